-- What was forgotten, and by which hashes it is known should it be read again.
CREATE TABLE forgettings (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at TEXT NOT NULL,
  selector TEXT NOT NULL,
  key BLOB NOT NULL,
  turns INTEGER NOT NULL,
  tasks INTEGER NOT NULL,
  comments INTEGER NOT NULL,
  attachments INTEGER NOT NULL,
  before TEXT
);

CREATE TABLE forgotten (
  hash BLOB NOT NULL,
  forgetting_id INTEGER NOT NULL REFERENCES forgettings(id) ON DELETE CASCADE,
  length INTEGER,
  PRIMARY KEY (hash, forgetting_id)
) WITHOUT ROWID;

CREATE INDEX forgotten_by_forgetting ON forgotten(forgetting_id);
