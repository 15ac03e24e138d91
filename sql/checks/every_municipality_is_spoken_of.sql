-- severity: critical
-- reason: no município may be missing without a word: it has a candidate, or a reason why it has none
-- next step: see core.area_district and mart.no_candidate
WITH spoken AS (
    SELECT d.municipality_code FROM core.area_district m JOIN core.district d USING (district_code)
    UNION
    SELECT municipality_code FROM mart.no_candidate
)
SELECT municipality_code, municipality_name
FROM core.municipality ANTI JOIN spoken USING (municipality_code)
ORDER BY ALL
