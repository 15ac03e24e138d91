-- title: Perfil do distrito
-- grain: One row per district and measure: the figure, its bounds, and where it comes from.
-- key: district_code, measure
SELECT
    d.district_code,
    d.district_name,
    d.municipality_code,
    d.municipality_name,
    d.uf,
    d.is_seat,
    d.refusal,
    m.measure,
    m.low,
    m.value,
    m.high,
    m.unit,
    m.evidence,
    m.method,
    m.source,
    m.reference_period,
    m.gap
FROM core.district AS d
JOIN core.district_measure AS m USING (district_code)
ORDER BY d.district_code, m.measure
