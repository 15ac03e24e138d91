-- title: Atualidade das fontes
-- grain: One row per source: how old its last good answer is, and since when it has been failing.
-- key: source
-- column files: Arquivos | Answers of this source that the release is made of. | count
SELECT
    f.source,
    f.title,
    f.required,
    f.is_stale,
    f.age_days,
    f.stale_after,
    f.published_at,
    f.last_good_at,
    f.last_polled_at,
    f.last_outcome,
    f.last_message,
    f.failing_since,
    f.failed_polls,
    (SELECT count(*) FROM meta.snapshot AS s WHERE s.source = f.source) AS files
FROM meta.source_freshness AS f
ORDER BY f.source
