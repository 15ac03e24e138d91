-- severity: critical
-- reason: a requirement without its row would be neither met nor not met, and an area could pass without it
-- next step: see the evaluator: each area but fusions has every requirement once, fusions have none (art. 4º)
WITH found AS (
    SELECT rule_set, area_id, requirement, count(*) AS rows FROM mart.requirement_result GROUP BY ALL
), law AS (
    SELECT 'lc_1_1967' AS rule_set, unnest(['population', 'electorate', 'urban_houses', 'collection', 'origin']) AS requirement
), required AS (
    SELECT DISTINCT rule_set, requirement FROM found
    UNION
    SELECT * FROM law WHERE rule_set IN (SELECT rule_set FROM mart.eligibility)
), judged AS (
    SELECT area_id FROM core.area WHERE kind <> 'fusion' OR area_id IN (SELECT area_id FROM found)
)
SELECT rule_set, area_id, requirement, coalesce(rows, 0) AS rows
FROM (SELECT * FROM judged CROSS JOIN required) FULL JOIN found USING (rule_set, area_id, requirement)
WHERE rows IS DISTINCT FROM 1
ORDER BY ALL
