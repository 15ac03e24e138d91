-- title: Interrupções das fontes
-- grain: One row per time a source failed: from the first failed poll to the next good one, or until now.
-- key: source, uf, failing_since
-- column failing_since: Falhando desde | First failed poll.
-- column ended_at: Fim | The good poll that ended it; empty while it lasts.
-- column days: Dias | From the first failed poll to the good one, or to the newest poll of any source. | count
-- column failed_polls: Consultas sem sucesso | Failed polls in it. | count
-- column cause: Causa | What ended the last of them, in one word.
-- column message: Mensagem | The same in a sentence.
WITH counted AS (
    SELECT *, count(*) FILTER (outcome = 'ok') OVER (PARTITION BY source, uf ORDER BY poll DESC) AS good_to_come
    FROM meta.poll
), ended AS (
    SELECT source, uf, good_to_come, max(polled_at) FILTER (outcome = 'ok') AS ended_at
    FROM counted
    GROUP BY ALL
)
SELECT
    c.source,
    c.uf,
    min(c.polled_at) AS failing_since,
    e.ended_at,
    date_diff('day', min(c.polled_at), coalesce(e.ended_at, (SELECT max(polled_at) FROM meta.poll))) AS days,
    count(*) AS failed_polls,
    max_by(c.cause, c.poll) AS cause,
    max_by(c.message, c.poll) AS message
FROM counted AS c
JOIN ended AS e USING (source, uf, good_to_come)
WHERE c.outcome = 'failed'
GROUP BY c.source, c.uf, c.good_to_come, e.ended_at
ORDER BY failing_since DESC, c.source, c.uf
