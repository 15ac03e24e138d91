-- severity: critical
-- reason: every area has one verdict per rule set: eligible, ineligible and undetermined make up all areas
-- next step: see which mart drops or repeats the area
WITH ranked AS (
    SELECT rule_set, area_id, count(*) AS rows FROM mart.eligibility GROUP BY ALL
), expected AS (
    SELECT rule_set, area_id FROM core.area CROSS JOIN (SELECT DISTINCT rule_set FROM mart.eligibility)
)
SELECT rule_set, area_id, coalesce(rows, 0) AS rows
FROM expected FULL JOIN ranked USING (rule_set, area_id)
WHERE rows IS DISTINCT FROM 1 OR area_id NOT IN (SELECT area_id FROM core.area)
ORDER BY ALL
