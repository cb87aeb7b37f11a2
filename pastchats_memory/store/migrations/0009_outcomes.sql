-- How each episode of a conversation ended, derived from its rows (tool rows and the person's next words included) by the rules
-- whose version stands beside it. The person's own words are quoted: with a row, what quotes it goes.
CREATE TABLE outcomes (
  source_project TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  first_index INTEGER NOT NULL,            -- turn_index of the episode's first row
  last_index INTEGER NOT NULL,             -- and of its last
  prompt_id INTEGER NOT NULL,              -- its first row
  verdict TEXT NOT NULL,                   -- worked, failed, mixed, unknown
  confidence REAL NOT NULL,                -- 0 for unknown
  signal TEXT NOT NULL,                    -- the rule that decided; '' for unknown
  evidence_json TEXT NOT NULL,             -- array of at most two [quotation, id of the row that it is of]
  rules TEXT NOT NULL,                     -- version of the rules
  PRIMARY KEY (source_project, conversation_id, first_index)
) WITHOUT ROWID;

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
  INSERT OR REPLACE INTO outcomes_due(source_project, conversation_id, from_index)
  VALUES (old.source_project, old.conversation_id, 0);
END;

CREATE TRIGGER outcomes_due_update AFTER UPDATE ON prompts
WHEN (old.content, old.role, old.turn_index, old.source_project, old.metadata_json)
  IS NOT (new.content, new.role, new.turn_index, new.source_project, new.metadata_json)
  OR old.conversation_id IS NOT new.conversation_id BEGIN
  DELETE FROM outcomes WHERE source_project = old.source_project AND conversation_id = old.conversation_id;
  INSERT OR REPLACE INTO outcomes_due(source_project, conversation_id, from_index)
  SELECT old.source_project, old.conversation_id, 0 WHERE old.conversation_id IS NOT NULL;
  INSERT OR REPLACE INTO outcomes_due(source_project, conversation_id, from_index)
  SELECT new.source_project, new.conversation_id, 0 WHERE new.conversation_id IS NOT NULL;
END;

INSERT INTO outcomes_due(source_project, conversation_id, from_index)
SELECT DISTINCT source_project, conversation_id, 0 FROM prompts WHERE conversation_id IS NOT NULL;
