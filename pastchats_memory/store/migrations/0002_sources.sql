-- What an index run remembers of a file beside its size and time, so that it can go on where it was.

ALTER TABLE prompts ADD COLUMN echo_hash TEXT;
CREATE INDEX prompts_by_echo ON prompts(echo_hash);

ALTER TABLE sources ADD COLUMN file_id TEXT;
ALTER TABLE sources ADD COLUMN fingerprint TEXT;
ALTER TABLE sources ADD COLUMN project TEXT;
ALTER TABLE sources ADD COLUMN resume TEXT;
ALTER TABLE sources ADD COLUMN problems TEXT;

ALTER TABLE runs ADD COLUMN pid INTEGER;
