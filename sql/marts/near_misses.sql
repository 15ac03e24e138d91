-- title: Perto do limite
-- grain: One row per area, rule set and requirement whose figure is within 10 % of what is asked, nearest first.
-- key: rule_set, area_id, requirement
-- column status: Situação | Met, not met, or undetermined by the data.
-- column missing: Falta | What the figure lacks to the threshold; negative where it is beyond it. | see column unit
SELECT
    r.rule_set,
    r.area_id,
    e.area_name,
    e.municipality_names,
    r.requirement,
    r.status,
    r.indication,
    r.value,
    r.comparison,
    r.threshold,
    CAST(r.threshold - r.value AS DECIMAL(24, 5)) AS missing,
    r.unit,
    r.margin,
    r.source,
    r.reference_period
FROM mart.requirement_result AS r
JOIN mart.eligibility AS e USING (rule_set, area_id)
WHERE abs(r.margin) <= 0.10
ORDER BY r.rule_set, abs(r.margin), r.area_id, r.requirement
