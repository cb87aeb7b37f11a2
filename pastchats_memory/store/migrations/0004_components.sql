-- The vector a second time, as the numbers that `vector_json` spells: an answer reads hundreds of them.

ALTER TABLE prompt_embeddings ADD COLUMN components BLOB;

CREATE INDEX prompt_embeddings_unpacked ON prompt_embeddings(prompt_id) WHERE components IS NULL;

CREATE TRIGGER prompt_embeddings_stale AFTER UPDATE OF vector_json ON prompt_embeddings BEGIN
  UPDATE prompt_embeddings SET components = NULL WHERE prompt_id = new.prompt_id;
END;

DROP TRIGGER vector_changes_update;

CREATE TRIGGER vector_changes_update AFTER UPDATE OF prompt_id, vector_json ON prompt_embeddings BEGIN
  INSERT INTO vector_changes(prompt_id) VALUES (old.prompt_id), (new.prompt_id);
END;
