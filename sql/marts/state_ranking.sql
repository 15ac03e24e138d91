-- title: Classificação em cada estado
-- grain: One row per area and rule set, with its rank within its state beside that among all the states at hand.
-- key: rule_set, area_id
-- warning: passing the screen does not allow creation today: no município can be created since EC 15/1996
-- column state_rank: Posição no estado | Position in the ranking of its state; equal areas share it.
-- column status: Situação | Eligible, undetermined or ineligible: the verdict on the area.
SELECT
    rule_set,
    uf,
    rank() OVER (PARTITION BY rule_set, uf ORDER BY rank) AS state_rank,
    rank,
    area_id,
    area_name,
    kind,
    municipality_names,
    status,
    likely,
    requirements_met,
    smallest_margin,
    binding_requirement,
    is_simulated
FROM mart.eligibility
ORDER BY rule_set, uf, state_rank, area_id
