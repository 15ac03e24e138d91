-- title: Comparação entre regras
-- grain: One row per area: which rule sets it passes, which it does not, and which the data cannot decide.
-- key: area_id
-- column rule_sets: Regras aplicadas | How many rule sets were applied. | count
-- column eligible_under: Elegível por | Rule sets under which it is eligible, joined by a bar; empty if none.
-- column undetermined_under: Indeterminado por | Rule sets under which the data cannot tell, joined by a bar.
-- column ineligible_under: Não elegível por | Rule sets under which it is ineligible, joined by a bar; empty if none.
-- column verdicts_differ: Regras divergem | Whether the rule sets give different verdicts.
SELECT
    area_id,
    area_name,
    municipality_names,
    count(*) AS rule_sets,
    string_agg(rule_set, '|' ORDER BY rule_set) FILTER (status = 'eligible') AS eligible_under,
    string_agg(rule_set, '|' ORDER BY rule_set) FILTER (status = 'undetermined') AS undetermined_under,
    string_agg(rule_set, '|' ORDER BY rule_set) FILTER (status = 'ineligible') AS ineligible_under,
    count(DISTINCT status) > 1 AS verdicts_differ
FROM mart.eligibility
GROUP BY area_id, area_name, municipality_names
ORDER BY area_id
