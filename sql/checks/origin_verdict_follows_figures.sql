-- severity: critical
-- reason: lost means surely met before and surely not after; kept, surely met after; never had, surely not met before
-- next step: see core.remainder and the evaluator: the verdict is not the one the figures give
WITH elsewhere AS (  -- met by another measure than the one shown
    SELECT rule_set, requirement FROM mart.rule_arm GROUP BY ALL HAVING count(DISTINCT measured) > 1
), own AS (  -- population: the threshold shown is of the value's own basis
    SELECT
        o.*,
        r.comparison,
        CASE r.unit WHEN 'persons' THEN before_value ELSE before_low END AS had_least,
        CASE r.unit WHEN 'persons' THEN before_value ELSE before_high END AS had_most,
        CASE r.unit WHEN 'persons' THEN after_value ELSE after_low END AS has_least,
        CASE r.unit WHEN 'persons' THEN after_value ELSE after_high END AS has_most
    FROM mart.origin_result o JOIN mart.requirement_result r USING (rule_set, area_id, requirement)
), compared AS (
    SELECT
        *,
        (rule_set, requirement) IN (FROM elsewhere) AS by_another,
        -- A share of the município's own population differs before and after: only the latter is shown.
        min(threshold) OVER same = max(threshold) OVER same AS is_fixed,
        CASE comparison WHEN '>' THEN had_least > threshold ELSE had_least >= threshold END AS surely_had,
        CASE comparison WHEN '>' THEN had_most > threshold ELSE had_most >= threshold END AS may_have_had,
        CASE comparison WHEN '>' THEN has_least > threshold ELSE has_least >= threshold END AS surely_has,
        CASE comparison WHEN '>' THEN has_most > threshold ELSE has_most >= threshold END AS may_have
    FROM own
    WINDOW same AS (PARTITION BY rule_set, requirement)
)
SELECT rule_set, area_id, municipality_code, requirement, verdict, before_low, before_high, after_low, after_high, threshold
FROM compared
WHERE CASE verdict
    WHEN 'kept' THEN NOT surely_has AND NOT by_another
    WHEN 'lost' THEN may_have OR (is_fixed AND NOT surely_had AND NOT by_another)
    WHEN 'never_had' THEN is_fixed AND may_have_had
END
ORDER BY ALL
