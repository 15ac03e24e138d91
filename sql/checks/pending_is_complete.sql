-- severity: critical
-- reason: what is missing must be asked for: one line per undetermined requirement of every area still in the running
-- next step: see mart.pending against mart.requirement_result and mart.eligibility
WITH undecided AS (
    SELECT r.rule_set, r.area_id, r.requirement
    FROM mart.requirement_result r JOIN mart.eligibility e USING (rule_set, area_id)
    WHERE r.status = 'undetermined' AND r.requirement <> 'origin' AND e.status <> 'ineligible'
), asked AS (
    SELECT rule_set, area_id, requirement FROM mart.pending
)
SELECT *, 'not asked for' AS problem FROM (FROM undecided EXCEPT ALL FROM asked)
UNION ALL
SELECT *, 'asked for in vain' FROM (FROM asked EXCEPT ALL FROM undecided)
ORDER BY ALL
