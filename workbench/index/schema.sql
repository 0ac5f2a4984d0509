CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE agents (place INTEGER PRIMARY KEY, name TEXT UNIQUE);
CREATE TABLE queries (
  place INTEGER PRIMARY KEY, id TEXT UNIQUE, text TEXT, doc TEXT, section TEXT, model TEXT, kind TEXT, role TEXT,
  words INTEGER, metadata TEXT, history TEXT, flips INTEGER, failed INTEGER, cluster TEXT,
  conversation TEXT, turn INTEGER, move TEXT
);
CREATE TABLE answers (
  query INTEGER, agent INTEGER, text TEXT, error TEXT, passages TEXT, queries TEXT, input_tokens INTEGER,
  output_tokens INTEGER, cost_usd REAL, latency_s REAL, PRIMARY KEY (query, agent)
) WITHOUT ROWID;
CREATE TABLE steps (
  query INTEGER, agent INTEGER, hops TEXT, brought TEXT, why_not TEXT, PRIMARY KEY (query, agent)
) WITHOUT ROWID;
CREATE TABLE not_asked (query INTEGER, agent INTEGER, PRIMARY KEY (query, agent)) WITHOUT ROWID;
CREATE TABLE passages (id TEXT PRIMARY KEY, title TEXT, text TEXT, metadata TEXT) WITHOUT ROWID;
CREATE TABLE spans (passage TEXT PRIMARY KEY, doc TEXT, first INTEGER, stop INTEGER) WITHOUT ROWID;
CREATE TABLE labels (
  query INTEGER, of TEXT, subject TEXT, criterion TEXT, judge TEXT, label REAL, reason TEXT, error TEXT, details TEXT
);
CREATE INDEX labels_by_query ON labels (query);
CREATE TABLE games (
  query INTEGER, agent_a TEXT, agent_b TEXT, first TEXT, judge TEXT, winner TEXT, reason TEXT, error TEXT,
  presentation INTEGER, place_a INTEGER, place_b INTEGER
);
CREATE INDEX games_by_query ON games (query);
CREATE TABLE lists (
  query INTEGER, judge TEXT, presentation INTEGER, block INTEGER, shown TEXT, ranked TEXT, reason TEXT, error TEXT
);
CREATE INDEX lists_by_query ON lists (query);
CREATE TABLE measures (place INTEGER PRIMARY KEY, name TEXT UNIQUE, low REAL, high REAL, lower_is_better INTEGER);
CREATE TABLE measured (
  measure INTEGER, agent INTEGER, data BLOB, owed BLOB, PRIMARY KEY (measure, agent)
) WITHOUT ROWID;
CREATE TABLE causes (query INTEGER, agent INTEGER, cause TEXT, PRIMARY KEY (query, agent)) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5 (query, answers, content='', tokenize='unicode61 remove_diacritics 2');
