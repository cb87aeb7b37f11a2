-- Turns that were stored one by one while they were said, by the caller's own id of the event: said again, it is that row.
CREATE TABLE live_events (
  event TEXT PRIMARY KEY,                  -- hash of client, conversation, role and event id
  prompt_id INTEGER NOT NULL REFERENCES prompts(id) ON DELETE CASCADE
) WITHOUT ROWID;

CREATE INDEX live_events_by_prompt ON live_events(prompt_id);
