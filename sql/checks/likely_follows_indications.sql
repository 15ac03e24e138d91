-- severity: critical
-- reason: likely says what the estimates point to, and nothing where the status is decided
-- next step: see mart.eligibility: it must follow the indications of mart.requirement_result
WITH pointed AS (
    SELECT
        rule_set, area_id,
        CASE
            WHEN bool_or(status = 'not_met') OR bool_and(status = 'met') THEN NULL
            WHEN coalesce(bool_or(indication = 'likely_not_met'), false) THEN 'likely_ineligible'
            WHEN bool_and(status = 'met' OR coalesce(indication = 'likely_met', false)) THEN 'likely_eligible'
            ELSE 'unknown'
        END AS likely
    FROM mart.requirement_result
    GROUP BY ALL
)
SELECT e.rule_set, e.area_id, e.status, e.likely, p.likely AS pointed
FROM mart.eligibility e LEFT JOIN pointed p USING (rule_set, area_id)
WHERE e.likely IS DISTINCT FROM
    -- No requirement row and no verdict: a fusion that the rule set says nothing about.
    CASE WHEN p.area_id IS NULL AND e.status = 'undetermined' THEN 'unknown' ELSE p.likely END
ORDER BY ALL
