-- severity: critical
-- reason: a simulated figure must never be taken for a real one
-- next step: see mart.eligibility: is_simulated must follow from the evidence
SELECT DISTINCT e.rule_set, e.area_id, e.is_simulated
FROM mart.eligibility e JOIN mart.requirement_result r USING (rule_set, area_id)
WHERE r.evidence = 'simulated' AND NOT e.is_simulated
ORDER BY ALL
