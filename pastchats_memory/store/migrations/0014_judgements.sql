-- How an episode ended by the judgement of somebody who read it; it holds while what was read is the same.
CREATE TABLE judgements (
  prompt_id INTEGER PRIMARY KEY REFERENCES prompts(id) ON DELETE CASCADE,
  verdict TEXT NOT NULL,
  shown_in INTEGER REFERENCES prompts(id) ON DELETE CASCADE,
  shown_from INTEGER NOT NULL,
  shown_length INTEGER NOT NULL,
  read_digest BLOB NOT NULL,
  judged_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
);

CREATE INDEX judgements_by_shown ON judgements(shown_in);
