-- Of every turn and every text of a task its runs of three characters: what is looked for within words, in scripts without
-- spaces, across marks. Two blanks behind a text make its last characters findable too. An index run brings in the rows of an
-- older database, from the highest id down to the one under `trigrams_from` in embedding_meta; without that key all are in.
CREATE VIEW trigram_texts(id, content) AS
SELECT id, content || '  ' FROM prompts
WHERE id >= ifnull((SELECT CAST(value AS INTEGER) FROM embedding_meta WHERE key = 'trigrams_from'), 0)
UNION ALL
SELECT id, content || ' ' || labels || '  ' FROM task_texts
WHERE id >= ifnull((SELECT CAST(value AS INTEGER) FROM embedding_meta WHERE key = 'trigrams_from'), 0);

CREATE VIRTUAL TABLE trigrams USING fts5(
  content,
  content='trigram_texts',
  content_rowid='id',
  detail='none',
  columnsize=0,
  tokenize='trigram'
);

CREATE VIRTUAL TABLE trigrams_vocabulary USING fts5vocab(trigrams, 'instance');

CREATE TRIGGER trigrams_prompts_insert AFTER INSERT ON prompts
WHEN new.id >= ifnull((SELECT CAST(value AS INTEGER) FROM embedding_meta WHERE key = 'trigrams_from'), 0) BEGIN
  INSERT INTO trigrams(rowid, content) VALUES (new.id, new.content || '  ');
END;

CREATE TRIGGER trigrams_prompts_delete AFTER DELETE ON prompts
WHEN old.id >= ifnull((SELECT CAST(value AS INTEGER) FROM embedding_meta WHERE key = 'trigrams_from'), 0) BEGIN
  INSERT INTO trigrams(trigrams, rowid, content) VALUES ('delete', old.id, old.content || '  ');
END;

CREATE TRIGGER trigrams_prompts_update AFTER UPDATE OF content ON prompts
WHEN old.id >= ifnull((SELECT CAST(value AS INTEGER) FROM embedding_meta WHERE key = 'trigrams_from'), 0) BEGIN
  INSERT INTO trigrams(trigrams, rowid, content) VALUES ('delete', old.id, old.content || '  ');
  INSERT INTO trigrams(rowid, content) VALUES (new.id, new.content || '  ');
END;

CREATE TRIGGER trigrams_task_texts_insert AFTER INSERT ON task_texts
WHEN new.id >= ifnull((SELECT CAST(value AS INTEGER) FROM embedding_meta WHERE key = 'trigrams_from'), 0) BEGIN
  INSERT INTO trigrams(rowid, content) VALUES (new.id, new.content || ' ' || new.labels || '  ');
END;

CREATE TRIGGER trigrams_task_texts_delete AFTER DELETE ON task_texts
WHEN old.id >= ifnull((SELECT CAST(value AS INTEGER) FROM embedding_meta WHERE key = 'trigrams_from'), 0) BEGIN
  INSERT INTO trigrams(trigrams, rowid, content) VALUES ('delete', old.id, old.content || ' ' || old.labels || '  ');
END;

CREATE TRIGGER trigrams_task_texts_update AFTER UPDATE OF content, labels ON task_texts
WHEN old.id >= ifnull((SELECT CAST(value AS INTEGER) FROM embedding_meta WHERE key = 'trigrams_from'), 0) BEGIN
  INSERT INTO trigrams(trigrams, rowid, content) VALUES ('delete', old.id, old.content || ' ' || old.labels || '  ');
  INSERT INTO trigrams(rowid, content) VALUES (new.id, new.content || ' ' || new.labels || '  ');
END;

INSERT INTO embedding_meta(key, value) SELECT 'trigrams_from', max(id) + 1
FROM (SELECT id FROM prompts UNION ALL SELECT id FROM task_texts) HAVING count(*);
