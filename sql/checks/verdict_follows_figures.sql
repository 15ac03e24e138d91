-- severity: critical
-- reason: met must hold for the least the figure can be, not_met must fail for the most it can be
-- next step: emancipa show AREA --explain; the evaluator decided against the figures it shows
WITH elsewhere AS (  -- met by another measure than the one shown
    SELECT rule_set, requirement FROM mart.rule_arm GROUP BY ALL HAVING count(DISTINCT measured) > 1
), compared AS (  -- population: the threshold shown is of the value's own basis
    SELECT
        *,
        CASE unit WHEN 'persons' THEN value ELSE low END AS least,
        CASE unit WHEN 'persons' THEN value ELSE high END AS most
    FROM mart.requirement_result
)
SELECT rule_set, area_id, requirement, low, value, high, comparison, threshold, status
FROM compared
WHERE CASE status
    WHEN 'met' THEN
        NOT CASE comparison WHEN '>' THEN least > threshold ELSE least >= threshold END
        AND (rule_set, requirement) NOT IN (FROM elsewhere)
    WHEN 'not_met' THEN CASE comparison WHEN '>' THEN most > threshold ELSE most >= threshold END
END
ORDER BY ALL
