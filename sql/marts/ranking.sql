-- title: Classificação
-- grain: One row per area and rule set, in rank order, with the verdict on each requirement side by side.
-- key: rule_set, area_id
-- warning: passing the screen does not allow creation today: no município can be created since EC 15/1996
-- column status: Situação | Eligible, undetermined or ineligible: the verdict on the area.
-- column population_status: População | Verdict on the population requirement; empty where the rule set has none.
-- column electorate_status: Eleitorado | Verdict on the electorate requirement; empty where the rule set has none.
-- column urban_houses_status: Casas | Verdict on the urban houses requirement; empty where the rule set has none.
-- column collection_status: Arrecadação | Verdict on the collection requirement; empty where the rule set has none.
SELECT
    e.rule_set,
    e.rank,
    e.area_id,
    e.area_name,
    e.kind,
    e.uf,
    e.municipality_names,
    e.status,
    e.likely,
    any_value(r.status) FILTER (r.requirement = 'population') AS population_status,
    any_value(r.status) FILTER (r.requirement = 'electorate') AS electorate_status,
    any_value(r.status) FILTER (r.requirement = 'urban_houses') AS urban_houses_status,
    any_value(r.status) FILTER (r.requirement = 'collection') AS collection_status,
    e.origin_status,
    e.same_origin_conflict,
    e.binding_requirement,
    e.smallest_margin,
    e.weakest_evidence,
    e.is_simulated
FROM mart.eligibility AS e
LEFT JOIN mart.requirement_result AS r USING (rule_set, area_id)
GROUP BY ALL
ORDER BY e.rule_set, e.rank, e.area_id
