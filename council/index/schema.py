"""The tables of the index, and the views that people query with tools of their own.

`FORMAT` is in the name of the file. Raise it with every change to a table or to what is written into it: then two
versions of council never read each other's index.
"""

from __future__ import annotations

FORMAT = 2

TABLES = """
CREATE TABLE session (
    number INTEGER PRIMARY KEY,
    root TEXT NOT NULL,
    id TEXT NOT NULL,
    started TEXT NOT NULL,
    written INTEGER NOT NULL,
    completed TEXT,
    workflow TEXT,
    outcome TEXT,
    fault TEXT,
    mark TEXT NOT NULL,
    seal INTEGER NOT NULL,
    turns_mark TEXT,
    topic TEXT NOT NULL DEFAULT '',
    owner TEXT,
    version TEXT,
    rounds INTEGER,
    options TEXT,
    members TEXT,
    topology TEXT,
    protocol TEXT,
    score REAL,
    facts TEXT,
    UNIQUE (root, id)
);
CREATE TABLE turn (
    number INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    turn TEXT NOT NULL,
    seat TEXT,
    phase TEXT,
    step TEXT,
    round INTEGER,
    kind TEXT,
    speaker TEXT,
    tier TEXT,
    model TEXT,
    started TEXT,
    seconds REAL,
    calls INTEGER,
    failed INTEGER,
    input INTEGER,
    output INTEGER,
    usd REAL,
    known_usd REAL,
    stop TEXT,
    absent TEXT,
    by TEXT,
    trial TEXT,
    confidence REAL,
    answers TEXT,
    fault TEXT,
    mark TEXT NOT NULL,
    UNIQUE (session, turn)
);
CREATE TABLE piece (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL,
    turn TEXT NOT NULL,
    kind TEXT NOT NULL,
    facts TEXT
);
CREATE INDEX piece_by_session ON piece (session);
CREATE TABLE confirmed (
    root TEXT NOT NULL,
    id TEXT NOT NULL,
    version TEXT NOT NULL,
    stamp TEXT NOT NULL,
    row TEXT NOT NULL,
    seal TEXT NOT NULL,
    PRIMARY KEY (root, id, version)
);
CREATE VIRTUAL TABLE words USING fts5 (
    topic, turn, decision, finding, content = '', tokenize = "unicode61 remove_diacritics 2"
);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, row);
"""

VIEWS = """
CREATE VIEW debate_sessions AS SELECT
    id,
    id AS debate_id,
    topic,
    CASE WHEN fault IS NOT NULL THEN 'unreadable' WHEN completed IS NULL THEN 'unfinished' ELSE 'finished' END
        AS status,
    topology AS topology_type,
    protocol AS coordination_protocol,
    options AS config,
    owner AS initiated_by,
    started AS created_at,
    coalesce((SELECT max(started) FROM turn WHERE turn.session = session.number), completed, started) AS updated_at,
    completed AS completed_at,
    rounds AS total_rounds,
    score AS final_consensus_score,
    CASE WHEN outcome IS NULL THEN NULL ELSE json_patch(coalesce(facts, '{}'), json_object('outcome', outcome)) END
        AS outcome,
    workflow,
    root || '/' || id AS folder
FROM session;
CREATE VIEW debate_turns AS SELECT
    session.id || '/' || turn.turn AS id,
    session.id AS session_id,
    turn.round,
    turn.phase,
    turn.seat AS agent_id,
    turn.kind AS agent_role,
    turn.speaker AS provider,
    turn.model,
    NULL AS content,
    turn.confidence,
    NULL AS tool_calls,
    turn.trial AS test_results,
    (SELECT json_group_array(json(piece.facts)) FROM piece
        WHERE piece.session = turn.session AND piece.turn = turn.turn AND piece.kind = 'reflection') AS reflections,
    json_object('step', turn.step, 'tier', turn.tier, 'by', turn.by, 'absent', turn.absent, 'stop', turn.stop,
        'calls', turn.calls, 'failed_calls', turn.failed, 'input_tokens', turn.input, 'output_tokens', turn.output,
        'usd', turn.usd, 'answers', json(turn.answers)) AS metadata,
    turn.started AS created_at,
    CAST(round(turn.seconds * 1000) AS INTEGER) AS response_time_ms,
    session.root || '/' || session.id || '/turns/' || turn.turn || '.md' AS file
FROM turn JOIN session ON session.number = turn.session;
CREATE VIEW code_versions AS SELECT
    session.id || '/' || piece.turn || '/' || json_extract(piece.facts, '$.candidate') AS id,
    session.id AS session_id,
    session.id || '/' || piece.turn AS turn_id,
    json_extract(piece.facts, '$.language') AS language,
    NULL AS code,
    json_extract(piece.facts, '$.number') AS version_number,
    NULL AS quality_score,
    json_extract(piece.facts, '$.test_pass_rate') AS test_pass_rate,
    json_extract(piece.facts, '$.metrics') AS metrics,
    session.root || '/' || session.id || '/' || json_extract(piece.facts, '$.diff') AS diff_from_previous,
    turn.started AS created_at,
    json_extract(piece.facts, '$.candidate') AS candidate
FROM piece JOIN session ON session.number = piece.session
    LEFT JOIN turn ON turn.session = piece.session AND turn.turn = piece.turn
WHERE piece.kind = 'version';
CREATE VIEW debates AS SELECT
    id AS debate_id,
    topic AS prompt,
    CASE WHEN fault IS NOT NULL THEN 'unreadable' WHEN completed IS NULL THEN 'unfinished' ELSE 'finished' END
        AS status,
    members AS perspectives,
    rounds AS current_round,
    json_extract(options, '$.max_rounds') AS max_rounds,
    (SELECT json_group_array(turn) FROM turn WHERE turn.session = session.number AND turn.kind = 'person')
        AS human_guidance,
    root || '/' || id || '/synthesis.md' AS synthesis
FROM session;
CREATE VIEW debate_rounds AS SELECT
    session.id AS debate_id,
    turn.phase,
    turn.round AS round_number,
    json_group_array(turn.turn) FILTER (WHERE turn.kind = 'member') AS arguments,
    json_group_array(turn.turn) FILTER (WHERE turn.kind = 'person') AS human_guidance,
    min(turn.started) AS started_at,
    sum(turn.known_usd) AS usd_at_least
FROM turn JOIN session ON session.number = turn.session GROUP BY session.number, turn.phase, turn.round;
CREATE VIEW findings AS SELECT
    session.id AS session_id,
    session.id || '/' || piece.turn AS turn_id,
    json_extract(piece.facts, '$.id') AS finding,
    json_extract(piece.facts, '$.severity') AS severity,
    json_extract(piece.facts, '$.path') AS path,
    json_extract(piece.facts, '$.line') AS line,
    json_extract(piece.facts, '$.status') AS ruling,
    json_extract(piece.facts, '$.issue') AS issue,
    json_extract(piece.facts, '$.change') AS change,
    json_extract(piece.facts, '$.seats') AS seats
FROM piece JOIN session ON session.number = piece.session WHERE piece.kind = 'finding';
CREATE VIEW changes_of_mind AS SELECT
    session.id AS session_id,
    json_extract(flip.value, '$.seat') AS agent_id,
    json_extract(flip.value, '$.from') AS stance_before,
    json_extract(flip.value, '$.to') AS stance_after,
    json_extract(flip.value, '$.kind') AS why,
    session.id || '/' || json_extract(flip.value, '$.turn') AS turn_id
FROM session, json_each(session.facts, '$.flips') AS flip;
CREATE VIEW gates AS SELECT
    session.id AS session_id,
    session.id || '/' || turn.turn AS turn_id,
    turn.phase,
    CASE WHEN turn.absent IS NULL THEN json_extract(turn.answers, '$.decision') END AS decision,
    turn.absent,
    turn.by AS reviewer,
    turn.started AS decided_at
FROM turn JOIN session ON session.number = turn.session WHERE turn.kind = 'person';
"""
