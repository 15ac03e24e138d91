-- title: Da cifra ao arquivo
-- grain: One row per area, measure and file of origin: from a figure to the bytes it was computed from.
-- key: area_id, measure, source, part
-- warning: a source of several files is listed with all of them, not only with the one that holds the row
-- column source: Fonte | One of the sources of the figure: its module below transforms/sources.
SELECT
    m.area_id,
    a.area_name,
    m.measure,
    m.low,
    m.value,
    m.high,
    m.unit,
    m.evidence,
    m.method,
    m.reference_period,
    m.source,
    s.part,
    s.url,
    s.sha256,
    s.fetched_at,
    s.published_at
FROM (SELECT * REPLACE (unnest(string_split(source, '|')) AS source) FROM core.area_measure) AS m
JOIN core.area AS a USING (area_id)
LEFT JOIN meta.snapshot AS s ON s.source = m.source AND s.uf IN (a.uf, '')
ORDER BY m.area_id, m.measure, m.source, s.part
