-- severity: critical
-- reason: met must hold for the least the figure can be, not_met must fail for the most it can be
-- next step: emancipa show AREA --explain; the evaluator decided against the figures it shows
WITH elsewhere AS (  -- met by another measure than the one shown
    SELECT rule_set, requirement FROM mart.rule_arm GROUP BY ALL HAVING count(DISTINCT measured) > 1
)
SELECT rule_set, area_id, requirement, low, high, comparison, threshold, status
FROM mart.requirement_result
WHERE CASE status
    WHEN 'met' THEN
        NOT CASE comparison WHEN '>' THEN low > threshold ELSE low >= threshold END
        AND (rule_set, requirement) NOT IN (FROM elsewhere)
    WHEN 'not_met' THEN CASE comparison WHEN '>' THEN high > threshold ELSE high >= threshold END
END
ORDER BY ALL
