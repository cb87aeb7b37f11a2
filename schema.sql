-- The database contract of pastchats-memory, schema version 1.
--
-- Durable: prompts, prompt_embeddings and task_embeddings (the vectors' one source of truth), sources, sightings, runs, tasks,
-- judgements, forgettings with their tombstones, recalled.
-- Derived, and rebuilt from the durable ones: prompts_fts, tool_calls_fts, task_texts_fts, trigrams, outcomes, replies, refutations,
-- known_failures, vector_blocks, middles, and the vec0 tables
-- `vec_prompts` (by prompt_id), `vec_tasks` (by task_id, one row a task) and `vec_task_parts` (its aspects, comments and chunks
-- of attachments, by text_id), which are made when the sqlite-vec extension loads and are therefore not in this file.

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
  text_hash BLOB NOT NULL DEFAULT x'',     -- of the content alone: the key under which its vector is found again; empty until the next opening
  echo_hash TEXT,                          -- of role, text and time: a copy under another native id has the same
  folder TEXT,                             -- the working directory, as recorded: where its session is resumed; NULL: unknown
  tool_calls TEXT GENERATED ALWAYS AS (    -- labels of tool calls and names of edited files, of metadata_json; NULL: none
    CASE WHEN json_valid(metadata_json) AND 'text' IN (json_type(metadata_json, '$.tools[0]'), json_type(metadata_json, '$.files[0]'))
    THEN replace(coalesce(json_extract(metadata_json, '$.tools'), '') || ' ' || coalesce(json_extract(metadata_json, '$.files'), ''), '\\', '\') END
  ) VIRTUAL
);

CREATE INDEX prompts_by_conversation ON prompts(conversation_id, turn_index);
-- Two of them have project, time and role: the visible rows of a role or a span are then listed without reading their texts.
CREATE INDEX prompts_by_project ON prompts(source_project, timestamp, role);
CREATE INDEX prompts_by_time ON prompts(timestamp, role, source_project);
CREATE INDEX prompts_by_text ON prompts(text_hash);
CREATE INDEX prompts_by_echo ON prompts(echo_hash);

-- A vector is stored in whole numbers; the largest is 127 or -127, and only the proportions count.
-- A text that is stored while no model can be used has a vector of zeros with an empty model. It counts as pending: no engine
-- has it, and the next command with the model replaces it.
CREATE TABLE prompt_embeddings (
  prompt_id INTEGER PRIMARY KEY,
  model TEXT NOT NULL,
  dim INTEGER NOT NULL,
  vector_json TEXT NOT NULL,
  created_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
  FOREIGN KEY(prompt_id) REFERENCES prompts(id) ON DELETE CASCADE
);

CREATE INDEX prompt_embeddings_pending ON prompt_embeddings(prompt_id) WHERE model = '';

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

-- Words of tool calls, which nobody wrote in a text: names of touched files, commands.
CREATE VIRTUAL TABLE tool_calls_fts USING fts5(
  tool_calls,
  content='prompts',
  content_rowid='id',
  columnsize=0,
  tokenize='porter unicode61'
);

CREATE VIRTUAL TABLE tool_calls_vocabulary USING fts5vocab(tool_calls_fts, 'row');

CREATE TRIGGER tool_calls_fts_insert AFTER INSERT ON prompts WHEN new.tool_calls IS NOT NULL BEGIN
  INSERT INTO tool_calls_fts(rowid, tool_calls) VALUES (new.id, new.tool_calls);
END;

CREATE TRIGGER tool_calls_fts_delete AFTER DELETE ON prompts WHEN old.tool_calls IS NOT NULL BEGIN
  INSERT INTO tool_calls_fts(tool_calls_fts, rowid, tool_calls) VALUES ('delete', old.id, old.tool_calls);
END;

CREATE TRIGGER tool_calls_fts_update AFTER UPDATE OF metadata_json ON prompts BEGIN
  INSERT INTO tool_calls_fts(tool_calls_fts, rowid, tool_calls)
  SELECT 'delete', old.id, old.tool_calls WHERE old.tool_calls IS NOT NULL;
  INSERT INTO tool_calls_fts(rowid, tool_calls) SELECT new.id, new.tool_calls WHERE new.tool_calls IS NOT NULL;
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
  file_id TEXT,                            -- device, inode, which a renamed file keeps, and ctime
  fingerprint TEXT,                        -- keyed hash of its bytes: a file that was moved elsewhere has the same; the key is not in the database
  project TEXT,                            -- what --project said of it; NULL: as recorded in it
  resume TEXT,                             -- JSON: where its reader goes on when it has grown
  problems TEXT,                           -- JSON: lines that were not understood
  read_as TEXT                             -- JSON: what --format and --map said of it; NULL: it was detected
);

-- Every place where a turn was seen; the citation uses one that still exists.
CREATE TABLE sightings (
  prompt_id INTEGER NOT NULL REFERENCES prompts(id) ON DELETE CASCADE,
  source_id INTEGER NOT NULL REFERENCES sources(id) ON DELETE CASCADE,
  line INTEGER NOT NULL,
  end_line INTEGER,
  passage BLOB,                            -- by what the citation is checked: place, length and digest of its lines; NULL: not made yet, empty: none
  PRIMARY KEY (prompt_id, source_id)
) WITHOUT ROWID;

CREATE INDEX sightings_by_source ON sightings(source_id, line);
CREATE INDEX sightings_without_passage ON sightings(source_id) WHERE passage IS NULL;

CREATE TABLE runs (
  id INTEGER PRIMARY KEY,
  started_at TEXT NOT NULL,
  inputs TEXT NOT NULL,                    -- JSON array of the paths that were named
  is_narrow INTEGER NOT NULL DEFAULT 0,    -- 1: only files of a format, or that match a glob, were wanted
  files_scanned INTEGER NOT NULL DEFAULT 0,
  turns_added INTEGER NOT NULL DEFAULT 0,
  turns_skipped INTEGER NOT NULL DEFAULT 0,
  unreadable INTEGER NOT NULL DEFAULT 0,
  model TEXT NOT NULL,
  duration_s REAL,
  outcome TEXT NOT NULL DEFAULT 'running', -- running, done, interrupted, failed
  pid INTEGER,                             -- of the process, while it runs
  stamp TEXT,                              -- digest of all that the answer depends on; NULL: something is to do, or a source has changed since
  answer TEXT                              -- JSON: the answer of a run that finds everything as this one left it
);

CREATE INDEX runs_by_stamp ON runs(stamp) WHERE stamp IS NOT NULL;

CREATE TRIGGER runs_insert_source AFTER INSERT ON sources BEGIN
  UPDATE runs SET stamp = NULL, answer = NULL WHERE stamp IS NOT NULL;
END;

CREATE TRIGGER runs_update_source AFTER UPDATE ON sources BEGIN
  UPDATE runs SET stamp = NULL, answer = NULL WHERE stamp IS NOT NULL;
END;

CREATE TRIGGER runs_delete_source AFTER DELETE ON sources BEGIN
  UPDATE runs SET stamp = NULL, answer = NULL WHERE stamp IS NOT NULL;
END;

CREATE TABLE embedding_meta (
  key TEXT PRIMARY KEY,                    -- model_name, model_version, embedding_dim, last_reindex_at, …
  value TEXT NOT NULL
) WITHOUT ROWID;

-- The exact engine's matrix: one row for every 512 prompt ids, in the same transaction as the vectors it is made of. It
-- proposes candidates, with the numbers that their scores come from.
CREATE TABLE vector_blocks (
  block INTEGER PRIMARY KEY,               -- prompt_id / 512
  ids BLOB NOT NULL,                       -- int64, ascending
  scales BLOB NOT NULL,                    -- float32, one for each id: code × scale is a component of the unit vector
  codes BLOB NOT NULL                      -- int8, the numbers of vector_json for each id; last, since they fill most pages
);

-- By what it is known that a block is as it was read: drawn by chance at each writing, so that no restore brings back a number
-- for something else. Triggers write it, whoever writes the block.
CREATE TABLE vector_block_versions (
  block INTEGER PRIMARY KEY,
  version INTEGER NOT NULL
);

CREATE TRIGGER vector_block_versions_insert AFTER INSERT ON vector_blocks BEGIN
  DELETE FROM vector_block_versions WHERE block = new.block;
  INSERT INTO vector_block_versions(block, version) VALUES (new.block, random());
END;

CREATE TRIGGER vector_block_versions_update AFTER UPDATE ON vector_blocks BEGIN
  DELETE FROM vector_block_versions WHERE block IN (old.block, new.block);
  INSERT INTO vector_block_versions(block, version) VALUES (new.block, random());
END;

CREATE TRIGGER vector_block_versions_delete AFTER DELETE ON vector_blocks BEGIN
  DELETE FROM vector_block_versions WHERE block = old.block;
END;

-- Rows whose vector has changed since an engine last caught up. Triggers write it,
-- so nothing that changes a row can leave an engine behind unnoticed, with or without the extension.
CREATE TABLE vector_changes (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  prompt_id INTEGER NOT NULL
);

CREATE TRIGGER vector_changes_insert AFTER INSERT ON prompt_embeddings BEGIN
  INSERT INTO vector_changes(prompt_id) VALUES (new.prompt_id);
END;

CREATE TRIGGER vector_changes_update AFTER UPDATE OF prompt_id, vector_json ON prompt_embeddings BEGIN
  INSERT INTO vector_changes(prompt_id) VALUES (old.prompt_id), (new.prompt_id);
END;

CREATE TRIGGER vector_changes_delete AFTER DELETE ON prompt_embeddings BEGIN
  INSERT INTO vector_changes(prompt_id) VALUES (old.prompt_id);
END;

-- A vector of the middle of each long answer, which the answer's own vector leaves out. It counts for the order of the best rows,
-- and no engine has it. An index run with the packaged model makes it, if that is the database's model.
CREATE TABLE middles (
  prompt_id INTEGER PRIMARY KEY REFERENCES prompts(id) ON DELETE CASCADE,
  codes BLOB                               -- int8, as in vector_blocks; empty: the text has no middle; NULL: it waits
);

CREATE INDEX middles_waiting ON middles(prompt_id) WHERE codes IS NULL;

CREATE TRIGGER middles_insert AFTER INSERT ON prompts WHEN new.role = 'assistant' AND length(new.content) > 600 BEGIN
  INSERT INTO middles(prompt_id) VALUES (new.id);
END;

CREATE TRIGGER middles_update AFTER UPDATE ON prompts WHEN (old.content, old.role) IS NOT (new.content, new.role) BEGIN
  DELETE FROM middles WHERE prompt_id = old.id;
  INSERT INTO middles(prompt_id) SELECT new.id WHERE new.role = 'assistant' AND length(new.content) > 600;
END;

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
  metadata_json TEXT NOT NULL,
  passage BLOB                             -- as in sightings
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
-- that both share the full-text ranking, vector_blocks and vector_changes. Further rows of a task hold one aspect of it,
-- which has a vector of its own but no words: a description must not dilute a title.
CREATE TABLE task_texts (
  id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id > 1099511627776),
  task_id INTEGER NOT NULL REFERENCES tasks(id) ON DELETE CASCADE,
  comment_id INTEGER REFERENCES task_comments(id) ON DELETE CASCADE,
  attachment_id INTEGER REFERENCES task_attachments(id) ON DELETE CASCADE,
  aspect TEXT NOT NULL DEFAULT '',         -- title: of a task with a description; tags: title and tags; '' for all other rows
  chunk INTEGER NOT NULL,
  content TEXT NOT NULL,                   -- embedded, and found by its words if the row is of no aspect
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

CREATE INDEX task_embeddings_pending ON task_embeddings(text_id) WHERE model = '';

CREATE VIEW task_words(id, content, labels) AS
SELECT id, content, labels FROM task_texts WHERE aspect = '';

CREATE VIRTUAL TABLE task_texts_fts USING fts5(
  content,
  labels,
  content='task_words',
  content_rowid='id',
  tokenize='porter unicode61'
);

CREATE VIRTUAL TABLE task_texts_vocabulary USING fts5vocab(task_texts_fts, 'row');

CREATE TRIGGER task_texts_fts_insert AFTER INSERT ON task_texts WHEN new.aspect = '' BEGIN
  INSERT INTO task_texts_fts(rowid, content, labels) VALUES (new.id, new.content, new.labels);
END;

CREATE TRIGGER task_texts_fts_delete AFTER DELETE ON task_texts WHEN old.aspect = '' BEGIN
  INSERT INTO task_texts_fts(task_texts_fts, rowid, content, labels) VALUES ('delete', old.id, old.content, old.labels);
END;

CREATE TRIGGER task_texts_fts_update AFTER UPDATE OF content, labels ON task_texts WHEN old.aspect = '' BEGIN
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

-- Runs of three characters of every turn and every text of a task: for parts of words, scripts without spaces, and marks.
-- Two blanks behind a text let its last characters be found too.
CREATE VIEW trigram_texts(id, content) AS
SELECT id, content || '  ' FROM prompts
UNION ALL
SELECT id, content || ' ' || labels || '  ' FROM task_words;

CREATE VIRTUAL TABLE trigrams USING fts5(
  content,
  content='trigram_texts',
  content_rowid='id',
  detail='none',
  columnsize=0,
  tokenize='trigram'
);

CREATE VIRTUAL TABLE trigrams_vocabulary USING fts5vocab(trigrams, 'instance');

CREATE TRIGGER trigrams_prompts_insert AFTER INSERT ON prompts BEGIN
  INSERT INTO trigrams(rowid, content) VALUES (new.id, new.content || '  ');
END;

CREATE TRIGGER trigrams_prompts_delete AFTER DELETE ON prompts BEGIN
  INSERT INTO trigrams(trigrams, rowid, content) VALUES ('delete', old.id, old.content || '  ');
END;

CREATE TRIGGER trigrams_prompts_update AFTER UPDATE OF content ON prompts BEGIN
  INSERT INTO trigrams(trigrams, rowid, content) VALUES ('delete', old.id, old.content || '  ');
  INSERT INTO trigrams(rowid, content) VALUES (new.id, new.content || '  ');
END;

CREATE TRIGGER trigrams_task_texts_insert AFTER INSERT ON task_texts WHEN new.aspect = '' BEGIN
  INSERT INTO trigrams(rowid, content) VALUES (new.id, new.content || ' ' || new.labels || '  ');
END;

CREATE TRIGGER trigrams_task_texts_delete AFTER DELETE ON task_texts WHEN old.aspect = '' BEGIN
  INSERT INTO trigrams(trigrams, rowid, content) VALUES ('delete', old.id, old.content || ' ' || old.labels || '  ');
END;

CREATE TRIGGER trigrams_task_texts_update AFTER UPDATE OF content, labels ON task_texts WHEN old.aspect = '' BEGIN
  INSERT INTO trigrams(trigrams, rowid, content) VALUES ('delete', old.id, old.content || ' ' || old.labels || '  ');
  INSERT INTO trigrams(rowid, content) VALUES (new.id, new.content || ' ' || new.labels || '  ');
END;

-- While the model is being changed: the new one's vectors, by the text they are of. Else empty.
CREATE TABLE next_vectors (
  text_hash BLOB PRIMARY KEY,
  vector_json TEXT NOT NULL
);

-- After a change of model: the vectors of the model before, so that changing back embeds only new text.
CREATE TABLE previous_vectors (
  text_hash BLOB PRIMARY KEY,
  vector_json TEXT NOT NULL
);

CREATE TRIGGER text_vectors_of_prompts AFTER DELETE ON prompts BEGIN
  DELETE FROM next_vectors WHERE text_hash = old.text_hash;
  DELETE FROM previous_vectors WHERE text_hash = old.text_hash;
END;

CREATE TRIGGER text_vectors_of_changed_prompts AFTER UPDATE OF text_hash ON prompts WHEN new.text_hash != old.text_hash BEGIN
  DELETE FROM next_vectors WHERE text_hash = old.text_hash;
  DELETE FROM previous_vectors WHERE text_hash = old.text_hash;
END;

CREATE TRIGGER text_vectors_of_tasks AFTER DELETE ON task_texts BEGIN
  DELETE FROM next_vectors WHERE text_hash = old.text_hash;
  DELETE FROM previous_vectors WHERE text_hash = old.text_hash;
END;

CREATE TRIGGER text_vectors_of_changed_tasks AFTER UPDATE OF text_hash ON task_texts WHEN new.text_hash != old.text_hash BEGIN
  DELETE FROM next_vectors WHERE text_hash = old.text_hash;
  DELETE FROM previous_vectors WHERE text_hash = old.text_hash;
END;

-- Folders of projects, and whether their own file calls them private: their text is recalled only inside them.
CREATE TABLE project_folders (
  folder TEXT PRIMARY KEY,
  project TEXT NOT NULL,
  is_private INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX project_folders_private ON project_folders(project) WHERE is_private;

-- Turns that were stored one by one while they were said, by the caller's own id of the event: said again, it is that row.
CREATE TABLE live_events (
  event TEXT PRIMARY KEY,                  -- hash of client, conversation, role and event id
  prompt_id INTEGER NOT NULL REFERENCES prompts(id) ON DELETE CASCADE
) WITHOUT ROWID;

CREATE INDEX live_events_by_prompt ON live_events(prompt_id);

-- How each episode of a conversation ended, derived from its rows (tool rows and the person's next words included) by the rules
-- whose version stands beside it. The person's own words are quoted: with a row, what quotes it goes.
CREATE TABLE outcomes (
  source_project TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  first_index INTEGER NOT NULL,            -- turn_index of the episode's first row
  last_index INTEGER NOT NULL,             -- and of its last
  prompt_id INTEGER NOT NULL,              -- the row that asks, else its first
  verdict TEXT NOT NULL,                   -- worked, failed, mixed, stopped, unknown
  confidence REAL NOT NULL,                -- 0 for unknown
  signal TEXT NOT NULL,                    -- the rule that decided; '' for unknown
  evidence_json TEXT NOT NULL,             -- array of at most two [quotation, id of the row that it is of, its turn_index]
  rules TEXT NOT NULL,                     -- version of the rules
  PRIMARY KEY (source_project, conversation_id, first_index)
) WITHOUT ROWID;

-- Commands and edits that failed or that the user did not want, by what their error names, and what cured them. Derived with the
-- outcomes from the rows of a conversation: with a row, what quotes it goes.
CREATE TABLE known_failures (
  source_project TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  prompt_id INTEGER NOT NULL,              -- the row with the failed run, or with the user's words
  program TEXT NOT NULL,                   -- '' for an edit
  word TEXT NOT NULL,                      -- of the command, as the error names it: `--wisp`, `-t tsx`; '' if it names none
  is_missing INTEGER NOT NULL,             -- 1: the program is not on this machine
  folder TEXT NOT NULL,                    -- where it ran, below the project; '' for the project's own
  action TEXT NOT NULL,                    -- the command in one spelling, or the file
  error TEXT NOT NULL,                     -- the line of the result
  has_passed INTEGER NOT NULL,             -- 1: the same worked later in the conversation
  kind TEXT NOT NULL,                      -- of the cure: refused, undone, instead, after; '' if none is known
  cure TEXT NOT NULL,                      -- the user's words, or a command or an edit
  cure_id INTEGER,                         -- the row that shows it
  PRIMARY KEY (source_project, conversation_id, prompt_id, action)
) WITHOUT ROWID;

CREATE INDEX known_failures_by_program ON known_failures(program, source_project);

-- How an episode ended by the judgement of somebody who read it, which stands in the place of what the rules say while what was
-- read is the same: none of these rows has changed, and none has come to them. It holds no text, and goes with any of the rows. Durable.
CREATE TABLE judgements (
  prompt_id INTEGER PRIMARY KEY REFERENCES prompts(id) ON DELETE CASCADE, -- the row that asks
  verdict TEXT NOT NULL,                   -- worked, failed, mixed, stopped, unknown
  shown_in INTEGER REFERENCES prompts(id) ON DELETE CASCADE, -- the row whose words show it; NULL for unknown
  shown_from INTEGER NOT NULL,             -- character of that row's text at which they begin
  shown_length INTEGER NOT NULL,           -- characters
  judged_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
);

CREATE INDEX judgements_by_shown ON judgements(shown_in);

CREATE TABLE judgement_reads (
  turn_id INTEGER NOT NULL,
  prompt_id INTEGER NOT NULL REFERENCES judgements(prompt_id) ON DELETE CASCADE,
  PRIMARY KEY (turn_id, prompt_id)
) WITHOUT ROWID;

CREATE INDEX judgement_reads_by_judgement ON judgement_reads(prompt_id);

CREATE TRIGGER judgements_of_changed AFTER UPDATE OF content ON prompts WHEN old.content IS NOT new.content BEGIN
  DELETE FROM judgements WHERE prompt_id IN (SELECT prompt_id FROM judgement_reads WHERE turn_id = old.id);
END;

CREATE TRIGGER judgements_of_deleted AFTER DELETE ON prompts BEGIN
  DELETE FROM judgements WHERE prompt_id IN (SELECT prompt_id FROM judgement_reads WHERE turn_id = old.id);
END;

-- Conversations whose outcomes are behind their rows, and the first row that is new. Triggers write it, so that nothing that
-- changes a row can leave a wrong outcome unnoticed.
CREATE TABLE outcomes_due (
  source_project TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  from_index INTEGER NOT NULL,
  PRIMARY KEY (source_project, conversation_id)
) WITHOUT ROWID;

CREATE TRIGGER outcomes_due_insert AFTER INSERT ON prompts WHEN new.conversation_id IS NOT NULL BEGIN
  INSERT INTO outcomes_due(source_project, conversation_id, from_index)
  VALUES (new.source_project, new.conversation_id, new.turn_index)
  ON CONFLICT DO UPDATE SET from_index = min(from_index, excluded.from_index);
END;

CREATE TRIGGER outcomes_due_delete AFTER DELETE ON prompts WHEN old.conversation_id IS NOT NULL BEGIN
  DELETE FROM outcomes WHERE source_project = old.source_project AND conversation_id = old.conversation_id;
  DELETE FROM known_failures WHERE source_project = old.source_project AND conversation_id = old.conversation_id;
  INSERT OR REPLACE INTO outcomes_due(source_project, conversation_id, from_index)
  VALUES (old.source_project, old.conversation_id, 0);
END;

CREATE TRIGGER outcomes_due_update AFTER UPDATE ON prompts
WHEN (old.content, old.role, old.turn_index, old.source_project, old.metadata_json)
  IS NOT (new.content, new.role, new.turn_index, new.source_project, new.metadata_json)
  OR old.conversation_id IS NOT new.conversation_id BEGIN
  DELETE FROM outcomes WHERE source_project = old.source_project AND conversation_id = old.conversation_id;
  DELETE FROM known_failures WHERE source_project = old.source_project AND conversation_id = old.conversation_id;
  INSERT OR REPLACE INTO outcomes_due(source_project, conversation_id, from_index)
  SELECT old.source_project, old.conversation_id, 0 WHERE old.conversation_id IS NOT NULL;
  INSERT OR REPLACE INTO outcomes_due(source_project, conversation_id, from_index)
  SELECT new.source_project, new.conversation_id, 0 WHERE new.conversation_id IS NOT NULL;
END;

-- What hooks gave to agents, redacted; the newest 2,000. The prompt is not among it: its own row is looked up.
CREATE TABLE recalled (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,               -- of the hook's note: one that is stored twice is one row
  given_at TEXT NOT NULL,
  agent TEXT NOT NULL,
  kind TEXT NOT NULL,                      -- the hook's action, such as recall or warn
  conversation_id TEXT,                    -- the session that got it
  content TEXT NOT NULL                    -- as the agent saw it
);

-- Where its words come from, and the session that got them. With a text of any of these conversations or tasks it goes.
CREATE TABLE recalled_sources (
  source TEXT NOT NULL,                    -- a conversation, `12` for a turn without one, or `t:KEY`
  recalled_id INTEGER NOT NULL REFERENCES recalled(id) ON DELETE CASCADE,
  PRIMARY KEY (source, recalled_id)
) WITHOUT ROWID;

CREATE TRIGGER recalled_of_deleted AFTER DELETE ON prompts BEGIN
  DELETE FROM recalled WHERE id IN (
    SELECT recalled_id FROM recalled_sources WHERE source IN (old.conversation_id, CAST(old.id AS TEXT)));
END;

CREATE TRIGGER recalled_of_changed AFTER UPDATE OF content ON prompts WHEN old.content IS NOT new.content BEGIN
  DELETE FROM recalled WHERE id IN (
    SELECT recalled_id FROM recalled_sources WHERE source IN (old.conversation_id, CAST(old.id AS TEXT)));
END;

CREATE TRIGGER recalled_of_deleted_task AFTER DELETE ON tasks BEGIN
  DELETE FROM recalled WHERE id IN (SELECT recalled_id FROM recalled_sources WHERE source = 't:' || old.key);
END;

-- What each message of the user means as a reply to the answer before it. The packaged model and the weights whose version
-- `embedding_meta` has as `reply_weights` tell it, whatever the database's own model is. A row without a kind waits for them.
CREATE TABLE replies (
  prompt_id INTEGER PRIMARY KEY REFERENCES prompts(id) ON DELETE CASCADE,
  kind TEXT,                               -- rejects, partly, confirms, agrees, new, other; '': it has no words; NULL: it waits
  probability REAL,                        -- of the kind
  complaint REAL,                          -- probability of rejects, partly and other
  approval REAL                            -- probability of confirms and agrees
);

CREATE INDEX replies_waiting ON replies(prompt_id) WHERE kind IS NULL;

CREATE TRIGGER replies_insert AFTER INSERT ON prompts WHEN new.role = 'user' AND new.turn_index > 0 BEGIN
  INSERT INTO replies(prompt_id) VALUES (new.id);
END;

CREATE TRIGGER replies_update AFTER UPDATE ON prompts
WHEN (old.content, old.role, old.turn_index) IS NOT (new.content, new.role, new.turn_index) BEGIN
  DELETE FROM replies WHERE prompt_id = old.id;
  INSERT INTO replies(prompt_id) SELECT new.id WHERE new.role = 'user' AND new.turn_index > 0;
END;

CREATE TRIGGER outcomes_due_reply AFTER UPDATE ON replies
WHEN (ifnull(old.kind, ''), old.probability) IS NOT (ifnull(new.kind, ''), new.probability) BEGIN
  INSERT INTO outcomes_due(source_project, conversation_id, from_index)
  SELECT source_project, conversation_id, turn_index FROM prompts WHERE id = new.prompt_id AND conversation_id IS NOT NULL
  ON CONFLICT DO UPDATE SET from_index = min(from_index, excluded.from_index);
END;

-- Messages that say of an earlier episode that it did not help, and that episode once it is found. They hold no text. Derived.
CREATE TABLE refutations (
  turn_id INTEGER PRIMARY KEY REFERENCES prompts(id) ON DELETE CASCADE, -- the message
  prompt_id INTEGER REFERENCES prompts(id) ON DELETE SET NULL, -- the row that asks in the earlier episode; NULL if none is known
  is_sought INTEGER NOT NULL DEFAULT 1     -- 1 while that episode is still to be looked for
);

CREATE INDEX refutations_by_prompt ON refutations(prompt_id) WHERE prompt_id IS NOT NULL;
CREATE INDEX refutations_sought ON refutations(turn_id) WHERE is_sought;

CREATE TRIGGER outcomes_due_refuted AFTER UPDATE OF prompt_id ON refutations WHEN old.prompt_id IS NOT new.prompt_id BEGIN
  INSERT INTO outcomes_due(source_project, conversation_id, from_index)
  SELECT source_project, conversation_id, turn_index FROM prompts
  WHERE id IN (old.prompt_id, new.prompt_id) AND conversation_id IS NOT NULL
  ON CONFLICT DO UPDATE SET from_index = min(from_index, excluded.from_index);
END;

CREATE TRIGGER outcomes_due_unrefuted AFTER DELETE ON refutations WHEN old.prompt_id IS NOT NULL BEGIN
  DELETE FROM outcomes WHERE prompt_id = old.prompt_id AND (source_project, conversation_id) IN (
    SELECT source_project, conversation_id FROM prompts WHERE id = old.prompt_id);
  INSERT INTO outcomes_due(source_project, conversation_id, from_index)
  SELECT source_project, conversation_id, turn_index FROM prompts WHERE id = old.prompt_id AND conversation_id IS NOT NULL
  ON CONFLICT DO UPDATE SET from_index = min(from_index, excluded.from_index);
END;

-- What was forgotten: never the text, nor words of a query that chose it.
CREATE TABLE forgettings (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at TEXT NOT NULL,
  selector TEXT NOT NULL,                  -- JSON: by what it was chosen
  key BLOB NOT NULL,                       -- 32 random bytes under which its tombstones are hashed
  turns INTEGER NOT NULL,
  tasks INTEGER NOT NULL,
  comments INTEGER NOT NULL,
  attachments INTEGER NOT NULL,
  before TEXT                              -- all turns older than that, stored or not: it needs no tombstones
);

-- Tombstones: keyed hashes of identities and texts, by which what was forgotten is known should it be read again.
CREATE TABLE forgotten (
  hash BLOB NOT NULL,                      -- 16 bytes
  forgetting_id INTEGER NOT NULL REFERENCES forgettings(id) ON DELETE CASCADE,
  length INTEGER,                          -- of a turn that may go on: characters that it had
  PRIMARY KEY (hash, forgetting_id)
) WITHOUT ROWID;

CREATE INDEX forgotten_by_forgetting ON forgotten(forgetting_id);

-- Folders through which this machine exchanges its memory with others, as each calls itself.
CREATE TABLE sync_folders (
  id TEXT PRIMARY KEY,                     -- as the folder's marker has it
  path TEXT NOT NULL,                      -- where it was last
  machine TEXT NOT NULL,                   -- this machine's name for its files: a folder in there
  host TEXT NOT NULL,                      -- name of the computer
  place TEXT NOT NULL,                     -- digest of computer and database file: a copied database is another machine
  secret TEXT,                             -- age identity that opens the files; NULL: they are not encrypted
  generation INTEGER NOT NULL,             -- of the secret: each replacement counts one more
  signing_key BLOB NOT NULL,               -- Ed25519 key that signs this machine's files
  proof BLOB NOT NULL,                     -- shows the others that the key is that of a machine of this person
  pending TEXT,                            -- number and fingerprint of the file that is about to be written
  is_announced INTEGER NOT NULL,           -- 0: the others have yet to read whom this machine trusts and has retired
  reads_again INTEGER NOT NULL DEFAULT 0,  -- 1: a deletion was undone, and a file may still have what it deleted here
  acknowledged TEXT                        -- JSON: runs of `forget` that this machine's files follow already
) WITHOUT ROWID;

-- Files of all machines in such a folder that were written or read here.
CREATE TABLE sync_files (
  folder TEXT NOT NULL REFERENCES sync_folders(id) ON DELETE CASCADE,
  machine TEXT NOT NULL,
  number INTEGER NOT NULL,
  is_current INTEGER NOT NULL,             -- 0: a later file of ours holds what is left of it, and it is to be deleted
  fingerprint TEXT NOT NULL,               -- of the bytes that were written or read
  PRIMARY KEY (folder, machine, number)
) WITHOUT ROWID;

-- What those files hold, by digest: whatever differs from all of them is new here. No text.
CREATE TABLE sync_records (
  folder TEXT NOT NULL,
  kind TEXT NOT NULL,                      -- turn, task, judgement, forgetting, lifting
  identity TEXT NOT NULL,
  machine TEXT NOT NULL,
  number INTEGER NOT NULL,
  digest BLOB NOT NULL,
  PRIMARY KEY (folder, kind, identity, machine, number),
  FOREIGN KEY (folder, machine, number) REFERENCES sync_files(folder, machine, number) ON DELETE CASCADE
) WITHOUT ROWID;

CREATE INDEX sync_records_by_file ON sync_records(folder, machine, number);

-- The machines whose files are taken, and those that were retired.
CREATE TABLE sync_machines (
  folder TEXT NOT NULL REFERENCES sync_folders(id) ON DELETE CASCADE,
  machine TEXT NOT NULL,
  key BLOB NOT NULL,                       -- Ed25519 key that signs its files
  label TEXT,                              -- its name before paths; NULL: no file of it was read yet
  is_retired INTEGER NOT NULL,
  PRIMARY KEY (folder, machine)
) WITHOUT ROWID;

-- Files that were refused for what they hold: they are not read again until they change.
CREATE TABLE sync_refusals (
  folder TEXT NOT NULL REFERENCES sync_folders(id) ON DELETE CASCADE,
  machine TEXT NOT NULL,
  number INTEGER NOT NULL,
  stamp TEXT NOT NULL,                     -- size and times of the file, release, and generation of the secret
  reason TEXT NOT NULL,
  PRIMARY KEY (folder, machine, number)
) WITHOUT ROWID;

-- Turns without an id of their own that grew: `sync` lets the longer one replace the other on every machine. No text.
CREATE TABLE sync_growths (
  old TEXT PRIMARY KEY,                    -- content_hash before
  new TEXT NOT NULL                        -- and after
) WITHOUT ROWID;

-- The latest judgement of each episode that any machine knows, or its withdrawal. It waits here for turns that come later.
CREATE TABLE sync_judgements (
  identity TEXT PRIMARY KEY,               -- content_hash of the turn that asks
  body TEXT NOT NULL,                      -- JSON without any text of a turn
  is_applied INTEGER NOT NULL
) WITHOUT ROWID;

-- The team's Milvus servers and files, as this memory is known there. The name and the key are random.
CREATE TABLE team_members (
  endpoint TEXT PRIMARY KEY,               -- file or address, as configured
  member TEXT NOT NULL,                    -- this memory's name for its rows
  host TEXT NOT NULL,                      -- of the computer with that name: a copied database gets another one
  key BLOB NOT NULL                        -- makes the ids of shared turns: nobody can confirm a guess of a text by them
) WITHOUT ROWID;

-- Projects that the user shares there; nothing else leaves.
CREATE TABLE team_projects (
  endpoint TEXT NOT NULL,
  project TEXT NOT NULL,
  PRIMARY KEY (endpoint, project)
) WITHOUT ROWID;

-- Only in the local copy of a team's memory: the rows of others, as they were pulled.
CREATE TABLE team_rows (
  id TEXT PRIMARY KEY,                     -- the row's id there; of a turn also its content_hash here
  digest TEXT NOT NULL,                    -- of that version
  kind TEXT NOT NULL,                      -- turn, episode
  author TEXT NOT NULL,
  turn TEXT NOT NULL                       -- content_hash of the turn, or of the turn that asks
) WITHOUT ROWID;
