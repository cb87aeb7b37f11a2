-- How an episode ended by the judgement of somebody who read it; it holds while the rows that were read are the same.
CREATE TABLE judgements (
  prompt_id INTEGER PRIMARY KEY REFERENCES prompts(id) ON DELETE CASCADE,
  verdict TEXT NOT NULL,
  shown_in INTEGER REFERENCES prompts(id) ON DELETE CASCADE,
  shown_from INTEGER NOT NULL,
  shown_length INTEGER NOT NULL,
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
