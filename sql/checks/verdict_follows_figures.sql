-- severity: critical
-- reason: met must hold for the least the figure can be, not_met must fail for the most it can be
-- next step: emancipa show AREA --explain; the evaluator decided against the figures it shows
SELECT rule_set, area_id, requirement, low, high, comparison, threshold, status
FROM mart.requirement_result
WHERE CASE status
    WHEN 'met' THEN NOT CASE comparison WHEN '>' THEN low > threshold ELSE low >= threshold END
    WHEN 'not_met' THEN CASE comparison WHEN '>' THEN high > threshold ELSE high >= threshold END
END
ORDER BY ALL
