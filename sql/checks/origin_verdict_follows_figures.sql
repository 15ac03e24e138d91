-- severity: critical
-- reason: lost means surely met before and surely not after; kept, surely met after; never had, surely not met before
-- next step: see core.remainder and the evaluator: the verdict is not the one the figures give
WITH elsewhere AS (  -- met by another measure than the one shown
    SELECT rule_set, requirement FROM mart.rule_arm GROUP BY ALL HAVING count(DISTINCT measured) > 1
), compared AS (
    SELECT
        o.*,
        (o.rule_set, o.requirement) IN (FROM elsewhere) AS by_another,
        -- A share of the município's own population differs before and after: only the latter is shown.
        min(o.threshold) OVER same = max(o.threshold) OVER same AS is_fixed,
        CASE r.comparison WHEN '>' THEN before_low > o.threshold ELSE before_low >= o.threshold END AS surely_had,
        CASE r.comparison WHEN '>' THEN before_high > o.threshold ELSE before_high >= o.threshold END AS may_have_had,
        CASE r.comparison WHEN '>' THEN after_low > o.threshold ELSE after_low >= o.threshold END AS surely_has,
        CASE r.comparison WHEN '>' THEN after_high > o.threshold ELSE after_high >= o.threshold END AS may_have
    FROM mart.origin_result o JOIN mart.requirement_result r USING (rule_set, area_id, requirement)
    WINDOW same AS (PARTITION BY o.rule_set, o.requirement)
)
SELECT rule_set, area_id, municipality_code, requirement, verdict, before_low, before_high, after_low, after_high, threshold
FROM compared
WHERE CASE verdict
    WHEN 'kept' THEN NOT surely_has AND NOT by_another
    WHEN 'lost' THEN may_have OR (is_fixed AND NOT surely_had AND NOT by_another)
    WHEN 'never_had' THEN is_fixed AND may_have_had
END
ORDER BY ALL
