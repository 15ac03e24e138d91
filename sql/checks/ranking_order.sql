-- severity: critical
-- reason: the order is the product: status, likely, requirements met, smallest margin, population; equals share a rank
-- next step: see mart.eligibility: its rank is not the one these columns give
WITH again AS (
    SELECT
        rule_set, area_id, rank AS published,
        rank() OVER (
            PARTITION BY rule_set
            ORDER BY
                CASE status WHEN 'eligible' THEN 1 WHEN 'undetermined' THEN 2 ELSE 3 END,
                CASE likely WHEN 'likely_eligible' THEN 1 WHEN 'unknown' THEN 2 WHEN 'likely_ineligible' THEN 3 ELSE 0 END,
                requirements_met DESC, smallest_margin DESC NULLS LAST, population DESC NULLS LAST
        ) AS expected
    FROM mart.eligibility
)
SELECT * FROM again WHERE published IS DISTINCT FROM expected ORDER BY ALL
