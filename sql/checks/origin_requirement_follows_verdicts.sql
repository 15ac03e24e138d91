-- severity: critical
-- reason: art. 2º, § 1º: an area may not go where its município of origin loses a requirement
-- next step: see mart.origin_result: the origin row of the area does not follow from its verdicts
WITH verdicts AS (
    SELECT rule_set, area_id, bool_or(verdict = 'lost') AS lost, bool_or(verdict = 'undetermined') AS undetermined
    FROM mart.origin_result
    GROUP BY ALL
)
SELECT r.rule_set, r.area_id, r.status, v.lost, v.undetermined
FROM mart.requirement_result r LEFT JOIN verdicts v USING (rule_set, area_id)
WHERE r.requirement = 'origin' AND (
    v.lost IS NULL OR (v.lost AND r.status <> 'not_met') OR (v.undetermined AND r.status = 'met')
)
ORDER BY ALL
