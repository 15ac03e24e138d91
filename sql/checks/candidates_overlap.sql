-- severity: warning
-- reason: two areas of candidates.csv that share a district cannot both leave their municípios
-- next step: keep both to compare them, or take one out of candidates.csv
WITH given AS (
    SELECT area_id, district_code FROM core.area_district WHERE area_id <> district_code
)
SELECT a.area_id, b.area_id AS other_area, string_agg(district_code, '|' ORDER BY district_code) AS shared_districts
FROM given AS a JOIN given AS b USING (district_code)
WHERE a.area_id < b.area_id
GROUP BY ALL
ORDER BY ALL
