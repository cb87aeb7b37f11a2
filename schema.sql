-- The database contract of pastchats-memory, schema version 2.
--
-- Durable: prompts, prompt_embeddings (the vectors' one source of truth), sources, sightings, runs.
-- Derived, and rebuilt from the durable ones: prompts_fts, vector_blocks, and the vec0 table `vec_prompts`, which is
-- made when the sqlite-vec extension loads and is therefore not in this file.

CREATE TABLE prompts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  source_path TEXT NOT NULL,
  source_project TEXT NOT NULL,
  conversation_id TEXT,
  turn_index INTEGER NOT NULL,
  role TEXT NOT NULL,
  content TEXT NOT NULL,
  timestamp TEXT,
  content_hash TEXT NOT NULL UNIQUE,
  metadata_json TEXT,
  created_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
  text_hash BLOB NOT NULL,                 -- of the content alone: the key under which its vector is found again
  echo_hash TEXT                           -- of role, text and time: a copy under another native id has the same
);

CREATE INDEX prompts_by_conversation ON prompts(conversation_id, turn_index);
CREATE INDEX prompts_by_project ON prompts(source_project, timestamp);
CREATE INDEX prompts_by_time ON prompts(timestamp);
CREATE INDEX prompts_by_text ON prompts(text_hash);
CREATE INDEX prompts_by_echo ON prompts(echo_hash);

CREATE TABLE prompt_embeddings (
  prompt_id INTEGER PRIMARY KEY,
  model TEXT NOT NULL,
  dim INTEGER NOT NULL,
  vector_json TEXT NOT NULL,
  created_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
  FOREIGN KEY(prompt_id) REFERENCES prompts(id) ON DELETE CASCADE
);

CREATE VIRTUAL TABLE prompts_fts USING fts5(
  content,
  source_project,
  conversation_id UNINDEXED,
  content='prompts',
  content_rowid='id',
  tokenize='porter unicode61'
);

CREATE VIRTUAL TABLE prompts_vocabulary USING fts5vocab(prompts_fts, 'row');

CREATE TRIGGER prompts_fts_insert AFTER INSERT ON prompts BEGIN
  INSERT INTO prompts_fts(rowid, content, source_project, conversation_id)
  VALUES (new.id, new.content, new.source_project, new.conversation_id);
END;

CREATE TRIGGER prompts_fts_delete AFTER DELETE ON prompts BEGIN
  INSERT INTO prompts_fts(prompts_fts, rowid, content, source_project, conversation_id)
  VALUES ('delete', old.id, old.content, old.source_project, old.conversation_id);
END;

CREATE TRIGGER prompts_fts_update AFTER UPDATE OF content, source_project, conversation_id ON prompts BEGIN
  INSERT INTO prompts_fts(prompts_fts, rowid, content, source_project, conversation_id)
  VALUES ('delete', old.id, old.content, old.source_project, old.conversation_id);
  INSERT INTO prompts_fts(rowid, content, source_project, conversation_id)
  VALUES (new.id, new.content, new.source_project, new.conversation_id);
END;

-- Each file that was looked at: what it was like then, so that an unchanged one costs one stat.
CREATE TABLE sources (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,
  size INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL,
  recipe TEXT NOT NULL,                    -- versions of its reader and of the recipe of identities
  format TEXT,                             -- NULL: not taken
  note TEXT,                               -- why it was not taken, or what was not understood in it
  indexed_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
  file_id TEXT,                            -- device and inode: a renamed file keeps them
  fingerprint TEXT,                        -- of its bytes: a file that was moved elsewhere has the same
  project TEXT,                            -- what --project said of it; NULL: as recorded in it
  resume TEXT,                             -- JSON: where its reader goes on when it has grown
  problems TEXT                            -- JSON: lines that were not understood
);

-- Every place where a turn was seen; the citation uses one that still exists.
CREATE TABLE sightings (
  prompt_id INTEGER NOT NULL REFERENCES prompts(id) ON DELETE CASCADE,
  source_id INTEGER NOT NULL REFERENCES sources(id) ON DELETE CASCADE,
  line INTEGER NOT NULL,
  end_line INTEGER,
  PRIMARY KEY (prompt_id, source_id)
) WITHOUT ROWID;

CREATE INDEX sightings_by_source ON sightings(source_id, line);

CREATE TABLE runs (
  id INTEGER PRIMARY KEY,
  started_at TEXT NOT NULL,
  inputs TEXT NOT NULL,                    -- JSON array of the paths that were named
  files_scanned INTEGER NOT NULL DEFAULT 0,
  turns_added INTEGER NOT NULL DEFAULT 0,
  turns_skipped INTEGER NOT NULL DEFAULT 0,
  unreadable INTEGER NOT NULL DEFAULT 0,
  model TEXT NOT NULL,
  duration_s REAL,
  outcome TEXT NOT NULL DEFAULT 'running', -- running, done, interrupted, failed
  pid INTEGER                              -- of the process, while it runs
);

CREATE TABLE embedding_meta (
  key TEXT PRIMARY KEY,                    -- model_name, model_version, embedding_dim, last_reindex_at, …
  value TEXT NOT NULL
) WITHOUT ROWID;

-- The exact engine's matrix: one row for every 512 prompt ids, eight bits a component, in the same transaction as the
-- vectors it is made of. It proposes candidates; their scores come from prompt_embeddings.
CREATE TABLE vector_blocks (
  block INTEGER PRIMARY KEY,               -- prompt_id / 512
  ids BLOB NOT NULL,                       -- int64, ascending
  codes BLOB NOT NULL,                     -- int8, one row of dim for each id
  scales BLOB NOT NULL                     -- float32, one for each id: component = code × scale
);

-- Rows whose vector, or whose fields that filters use, have changed since an engine last caught up. Triggers write it,
-- so nothing that changes a row can leave an engine behind unnoticed, with or without the extension.
CREATE TABLE vector_changes (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  prompt_id INTEGER NOT NULL
);

CREATE TRIGGER vector_changes_insert AFTER INSERT ON prompt_embeddings BEGIN
  INSERT INTO vector_changes(prompt_id) VALUES (new.prompt_id);
END;

CREATE TRIGGER vector_changes_update AFTER UPDATE ON prompt_embeddings BEGIN
  INSERT INTO vector_changes(prompt_id) VALUES (old.prompt_id), (new.prompt_id);
END;

CREATE TRIGGER vector_changes_delete AFTER DELETE ON prompt_embeddings BEGIN
  INSERT INTO vector_changes(prompt_id) VALUES (old.prompt_id);
END;

CREATE TRIGGER vector_changes_filters AFTER UPDATE OF source_project, role, timestamp ON prompts BEGIN
  INSERT INTO vector_changes(prompt_id) VALUES (new.id);
END;
