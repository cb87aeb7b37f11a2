-- Tasks: what was to be done and what became of it. Durable, with task_links, task_states, task_conversations,
-- task_comments and task_attachments; task_texts is derived from them.
CREATE TABLE tasks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  key TEXT NOT NULL UNIQUE,                -- what t:KEY names; given once and kept
  identity TEXT NOT NULL UNIQUE,           -- hash of project, scope and native id: the same task when it is read again
  native_id TEXT NOT NULL,
  title TEXT NOT NULL,
  description TEXT NOT NULL,
  type TEXT NOT NULL,                      -- epic, task, subtask
  status TEXT NOT NULL,                    -- pending, in_progress, blocked, review, completed, archived, cancelled, deferred, unknown
  status_raw TEXT NOT NULL,                -- the tracker's own word
  priority INTEGER,                        -- 0 critical to 4 lowest
  tags_json TEXT NOT NULL,                 -- JSON array of texts
  project TEXT NOT NULL,
  source_path TEXT NOT NULL,               -- '' for a task made by hand
  source_line INTEGER,
  created_at TEXT,
  updated_at TEXT,
  closed_at TEXT,
  due_at TEXT,
  metadata_json TEXT NOT NULL
);

CREATE INDEX tasks_by_native_id ON tasks(native_id);
CREATE INDEX tasks_by_status ON tasks(status, project);
CREATE INDEX tasks_by_source ON tasks(source_path);

-- The other task is named by its identity, so that a link to a task which is read later needs no second pass.
CREATE TABLE task_links (
  task_id INTEGER NOT NULL REFERENCES tasks(id) ON DELETE CASCADE,
  kind TEXT NOT NULL,                      -- parent, depends, related, duplicates, …
  target TEXT NOT NULL,                    -- identity of the other task
  name TEXT NOT NULL,                      -- as the source calls it
  by_hand INTEGER NOT NULL,                -- 1: made here, and kept when the source is read again
  PRIMARY KEY (task_id, kind, target)
) WITHOUT ROWID;

CREATE INDEX task_links_by_target ON task_links(target, kind);
CREATE UNIQUE INDEX task_links_one_parent ON task_links(task_id) WHERE kind = 'parent';

CREATE TABLE task_states (
  id INTEGER PRIMARY KEY,
  task_id INTEGER NOT NULL REFERENCES tasks(id) ON DELETE CASCADE,
  at TEXT,
  status TEXT NOT NULL,
  status_raw TEXT NOT NULL
);

CREATE UNIQUE INDEX task_states_once ON task_states(task_id, ifnull(at, ''), status_raw);

CREATE TABLE task_conversations (
  task_id INTEGER NOT NULL REFERENCES tasks(id) ON DELETE CASCADE,
  conversation_id TEXT NOT NULL,
  PRIMARY KEY (task_id, conversation_id)
) WITHOUT ROWID;

CREATE INDEX task_conversations_by_conversation ON task_conversations(conversation_id);

CREATE TABLE task_comments (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  task_id INTEGER NOT NULL REFERENCES tasks(id) ON DELETE CASCADE,
  identity TEXT NOT NULL,                  -- hash of author, time, text and ordinal among equals
  author TEXT NOT NULL,
  content TEXT NOT NULL,
  created_at TEXT,
  by_hand INTEGER NOT NULL,
  UNIQUE (task_id, identity)
);

CREATE TABLE task_attachments (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  task_id INTEGER NOT NULL REFERENCES tasks(id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  size INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  content TEXT,                            -- NULL: no text in it
  created_at TEXT,
  UNIQUE (task_id, name, sha256)
);

-- What of tasks is searched: one row a task, a comment, a chunk of an attachment. Its ids begin above every prompt's, so
-- that both share the full-text ranking, vector_blocks and vector_changes.
CREATE TABLE task_texts (
  id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id > 1099511627776),
  task_id INTEGER NOT NULL REFERENCES tasks(id) ON DELETE CASCADE,
  comment_id INTEGER REFERENCES task_comments(id) ON DELETE CASCADE,
  attachment_id INTEGER REFERENCES task_attachments(id) ON DELETE CASCADE,
  chunk INTEGER NOT NULL,
  content TEXT NOT NULL,                   -- embedded, and found by its words
  labels TEXT NOT NULL,                    -- key, tags, name of the attachment: found by their words alone
  text_hash BLOB NOT NULL
);

INSERT INTO sqlite_sequence(name, seq) VALUES ('task_texts', 1099511627776);

CREATE INDEX task_texts_by_task ON task_texts(task_id);
CREATE INDEX task_texts_by_comment ON task_texts(comment_id);
CREATE INDEX task_texts_by_attachment ON task_texts(attachment_id);
CREATE INDEX task_texts_by_text ON task_texts(text_hash);

CREATE TABLE task_embeddings (
  text_id INTEGER PRIMARY KEY,
  model TEXT NOT NULL,
  dim INTEGER NOT NULL,
  vector_json TEXT NOT NULL,
  created_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
  FOREIGN KEY(text_id) REFERENCES task_texts(id) ON DELETE CASCADE
);

CREATE VIRTUAL TABLE task_texts_fts USING fts5(
  content,
  labels,
  content='task_texts',
  content_rowid='id',
  tokenize='porter unicode61'
);

CREATE VIRTUAL TABLE task_texts_vocabulary USING fts5vocab(task_texts_fts, 'row');

CREATE TRIGGER task_texts_fts_insert AFTER INSERT ON task_texts BEGIN
  INSERT INTO task_texts_fts(rowid, content, labels) VALUES (new.id, new.content, new.labels);
END;

CREATE TRIGGER task_texts_fts_delete AFTER DELETE ON task_texts BEGIN
  INSERT INTO task_texts_fts(task_texts_fts, rowid, content, labels) VALUES ('delete', old.id, old.content, old.labels);
END;

CREATE TRIGGER task_texts_fts_update AFTER UPDATE OF content, labels ON task_texts BEGIN
  INSERT INTO task_texts_fts(task_texts_fts, rowid, content, labels) VALUES ('delete', old.id, old.content, old.labels);
  INSERT INTO task_texts_fts(rowid, content, labels) VALUES (new.id, new.content, new.labels);
END;

CREATE TRIGGER task_vectors_insert AFTER INSERT ON task_embeddings BEGIN
  INSERT INTO vector_changes(prompt_id) VALUES (new.text_id);
END;

CREATE TRIGGER task_vectors_update AFTER UPDATE ON task_embeddings BEGIN
  INSERT INTO vector_changes(prompt_id) VALUES (old.text_id), (new.text_id);
END;

CREATE TRIGGER task_vectors_delete AFTER DELETE ON task_embeddings BEGIN
  INSERT INTO vector_changes(prompt_id) VALUES (old.text_id);
END;
