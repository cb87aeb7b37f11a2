-- The vector of a task's title alone, which duplicates are told by; NULL: the task has no other text.
ALTER TABLE task_embeddings ADD COLUMN title_json TEXT;
