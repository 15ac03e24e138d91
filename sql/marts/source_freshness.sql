-- title: Atualidade das fontes
-- grain: One row per source: how old its last good answer is, and since when it has been failing.
-- key: source
-- column failing_since: Falhando desde | First failed attempt after the last good answer; empty while the source answers.
-- column failed_attempts: Tentativas sem sucesso | Failed attempts since the last good answer. | count
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
    t.failing_since,
    coalesce(t.failed_attempts, 0) AS failed_attempts,
    (SELECT count(*) FROM meta.snapshot AS s WHERE s.source = f.source) AS files
FROM meta.source_freshness AS f
LEFT JOIN (
    SELECT a.source, min(a.attempted_at) AS failing_since, count(*) AS failed_attempts
    FROM meta.attempt AS a
    JOIN meta.source_freshness AS g USING (source)
    WHERE
        a.attempted_at > coalesce(g.last_good_at, '-infinity')
        AND a.outcome NOT IN ('new', 'unchanged', 'revised', 'not_modified')
    GROUP BY a.source
) AS t USING (source)
ORDER BY f.source
