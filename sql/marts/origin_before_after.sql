-- title: Município de origem, antes e depois
-- grain: One row per area, rule set, município of origin and requirement: what it has, and what would remain.
-- key: rule_set, area_id, municipality_code, requirement
-- column requirement: Requisito | Requirement the município must not lose.
-- column leaves: Sai com a área | What the area would take with it. | see column unit
-- column threshold: Limite | What the remainder is compared with. | see column unit
-- column unit: Unidade | Unit of the figures of the row.
SELECT
    o.rule_set,
    o.area_id,
    a.area_name,
    o.municipality_code,
    o.municipality_name,
    o.requirement,
    o.before_value,
    CAST(o.before_value - o.after_value AS DECIMAL(24, 5)) AS leaves,
    o.after_low,
    o.after_value,
    o.after_high,
    o.threshold,
    r.unit,
    o.verdict
FROM mart.origin_result AS o
JOIN core.area AS a USING (area_id)
LEFT JOIN mart.requirement_result AS r USING (rule_set, area_id, requirement)
ORDER BY o.rule_set, o.area_id, o.municipality_code, o.requirement
