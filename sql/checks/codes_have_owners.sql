-- severity: critical
-- reason: a code that its entity's table does not know is a row lost, or joined to nothing
-- next step: find the source that uses the code: the list of localities, the census and the TSE's table must agree
WITH used AS (
    SELECT 'core.district_population' AS table_name, 'district_code' AS code_name, district_code AS code FROM core.district_population
    UNION ALL SELECT 'core.district_measure', 'district_code', district_code FROM core.district_measure
    UNION ALL SELECT 'core.polling_place', 'district_code', district_code FROM core.polling_place
    UNION ALL SELECT 'core.area_district', 'district_code', district_code FROM core.area_district
    UNION ALL SELECT 'core.district', 'municipality_code', municipality_code FROM core.district
    UNION ALL SELECT 'core.polling_place', 'municipality_code', municipality_code FROM core.polling_place
    UNION ALL SELECT 'core.municipality_collection', 'municipality_code', municipality_code FROM core.municipality_collection
    UNION ALL SELECT 'mart.origin_result', 'municipality_code', municipality_code FROM mart.origin_result
    UNION ALL SELECT 'core.area_district', 'area_id', area_id FROM core.area_district
    UNION ALL SELECT 'core.area_measure', 'area_id', area_id FROM core.area_measure
    UNION ALL SELECT 'mart.requirement_result', 'area_id', area_id FROM mart.requirement_result
), known AS (
    SELECT 'district_code' AS code_name, district_code AS code FROM core.district
    UNION ALL SELECT 'municipality_code', municipality_code FROM core.municipality
    UNION ALL SELECT 'area_id', area_id FROM core.area
)
SELECT DISTINCT table_name, code_name, code
FROM used ANTI JOIN known USING (code_name, code)
WHERE code IS NOT NULL
ORDER BY ALL
