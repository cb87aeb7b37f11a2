-- While the model is being changed: the new one's vectors, by the text they are of. Else empty.
CREATE TABLE next_vectors (
  text_hash BLOB PRIMARY KEY,
  vector_json TEXT NOT NULL
);

CREATE TRIGGER next_vectors_of_prompts AFTER DELETE ON prompts BEGIN
  DELETE FROM next_vectors WHERE text_hash = old.text_hash;
END;

CREATE TRIGGER next_vectors_of_changed_prompts AFTER UPDATE OF text_hash ON prompts WHEN new.text_hash != old.text_hash BEGIN
  DELETE FROM next_vectors WHERE text_hash = old.text_hash;
END;

CREATE TRIGGER next_vectors_of_tasks AFTER DELETE ON task_texts BEGIN
  DELETE FROM next_vectors WHERE text_hash = old.text_hash;
END;

CREATE TRIGGER next_vectors_of_changed_tasks AFTER UPDATE OF text_hash ON task_texts WHEN new.text_hash != old.text_hash BEGIN
  DELETE FROM next_vectors WHERE text_hash = old.text_hash;
END;

-- Folders of projects, and whether their own file calls them private: their text is recalled only inside them.
CREATE TABLE project_folders (
  folder TEXT PRIMARY KEY,
  project TEXT NOT NULL,
  is_private INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX project_folders_private ON project_folders(project) WHERE is_private;
