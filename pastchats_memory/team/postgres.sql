-- A team's memory of pastchats-memory, in PostgreSQL 16 or later with pgvector 0.8 or later.
-- Run it once in the team's database, as a role that may create roles and schemas there.

-- Only this statement may need a superuser; many managed servers allow it to the owner of the database.
CREATE EXTENSION IF NOT EXISTS vector;

DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'pastchats_team') THEN  -- else another database here has a team, too
    CREATE ROLE pastchats_team NOLOGIN;
  END IF;
END $$;

CREATE SCHEMA pastchats;
REVOKE ALL ON SCHEMA pastchats FROM PUBLIC;
GRANT USAGE ON SCHEMA pastchats TO pastchats_team;

CREATE TABLE pastchats.rows (
  id text PRIMARY KEY CHECK (id ~ '^[0-9a-f]{64}$'),
  author text NOT NULL DEFAULT session_user,
  member text NOT NULL CHECK (length(member) <= 16),
  kind text NOT NULL CHECK (length(kind) <= 16),
  project text NOT NULL CHECK (length(project) <= 1024),
  role text NOT NULL CHECK (length(role) <= 1024),
  outcome text NOT NULL CHECK (length(outcome) <= 16),
  at bigint NOT NULL,                       -- milliseconds since 1970; 0 for none
  model text NOT NULL CHECK (length(model) <= 16),
  digest text NOT NULL CHECK (length(digest) <= 64),
  text text NOT NULL CHECK (octet_length(text) <= 65535),
  body json NOT NULL CHECK (octet_length(body::text) <= 65536),
  dense public.halfvec({dim}) NOT NULL,
  words tsvector NOT NULL,                  -- the words of the text, as pastchats-memory splits them
  changed xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX rows_words ON pastchats.rows USING gin (words) WITH (fastupdate = off);
CREATE INDEX rows_dense ON pastchats.rows USING hnsw (dense public.halfvec_cosine_ops);
CREATE INDEX rows_changed ON pastchats.rows (changed);
CREATE INDEX rows_author ON pastchats.rows (author, member);

-- Ids of deleted rows, for the copies of the others.
CREATE TABLE pastchats.deleted (id text NOT NULL, changed xid8 NOT NULL DEFAULT pg_current_xact_id());
CREATE INDEX deleted_changed ON pastchats.deleted (changed);

-- A project that stands here is read by these roles and its authors alone; any other by the whole team.
CREATE TABLE pastchats.readers (project text NOT NULL, reader text NOT NULL, PRIMARY KEY (project, reader));

-- Changes whenever readers change, so that copies are compared as a whole.
CREATE TABLE pastchats.access (changed xid8 NOT NULL);
INSERT INTO pastchats.access VALUES (pg_current_xact_id());

CREATE FUNCTION pastchats.hidden_projects() RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ SELECT project FROM pastchats.readers GROUP BY project HAVING NOT bool_or(reader = session_user) $$;

CREATE FUNCTION pastchats.note_change() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ BEGIN NEW.changed := pg_current_xact_id(); RETURN NEW; END $$;
CREATE TRIGGER note_change BEFORE INSERT OR UPDATE ON pastchats.rows FOR EACH ROW EXECUTE FUNCTION pastchats.note_change();

CREATE FUNCTION pastchats.note_deletion() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ BEGIN INSERT INTO pastchats.deleted (id) VALUES (OLD.id); RETURN NULL; END $$;
CREATE TRIGGER note_deletion AFTER DELETE ON pastchats.rows FOR EACH ROW EXECUTE FUNCTION pastchats.note_deletion();

CREATE FUNCTION pastchats.note_access() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ BEGIN UPDATE pastchats.access SET changed = pg_current_xact_id(); RETURN NULL; END $$;
CREATE TRIGGER note_access AFTER INSERT OR UPDATE OR DELETE ON pastchats.readers
FOR EACH STATEMENT EXECUTE FUNCTION pastchats.note_access();

ALTER TABLE pastchats.rows ENABLE ROW LEVEL SECURITY;
ALTER TABLE pastchats.rows FORCE ROW LEVEL SECURITY;
CREATE POLICY owner_reads ON pastchats.rows FOR SELECT TO CURRENT_USER USING (true);  -- for find_words
CREATE POLICY team_reads ON pastchats.rows FOR SELECT TO pastchats_team
  USING (author = session_user OR project <> ALL (ARRAY(SELECT pastchats.hidden_projects())));
CREATE POLICY author_inserts ON pastchats.rows FOR INSERT TO pastchats_team WITH CHECK (author = session_user);
CREATE POLICY author_updates ON pastchats.rows FOR UPDATE TO pastchats_team
  USING (author = session_user) WITH CHECK (author = session_user);
CREATE POLICY author_deletes ON pastchats.rows FOR DELETE TO pastchats_team USING (author = session_user);

-- Nobody names an author or a change: the columns are not granted.
GRANT SELECT, DELETE ON pastchats.rows TO pastchats_team;
GRANT INSERT (id, member, kind, project, role, outcome, at, model, digest, text, body, dense, words),
  UPDATE (member, kind, project, role, outcome, at, model, digest, text, body, dense, words)
  ON pastchats.rows TO pastchats_team;
GRANT SELECT ON pastchats.deleted, pastchats.access TO pastchats_team;

-- Rank the rows that have some words. `@@` is not leakproof, so that the policies above would keep a member from its
-- index. This function applies the same rule by itself. It looks for the rare words first, and uses the common ones only
-- to rank what they found, so that a word of every row costs nothing.
CREATE FUNCTION pastchats.find_words(
  wanted text[], only_project text, only_roles text[], since bigint, until bigint, only_outcomes text[], most int
) RETURNS TABLE (id text, score real)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET jit = off
AS $$
DECLARE
  hidden text[] := ARRAY(SELECT pastchats.hidden_projects());
  total real := greatest((SELECT reltuples FROM pg_class WHERE oid = 'pastchats.rows'::regclass), 1);
  queries tsquery[] := ARRAY(SELECT quote_literal(w)::tsquery FROM unnest(wanted) w);
  weights real[];
  rare tsquery;
BEGIN
  WITH sample AS MATERIALIZED (
    SELECT r.words FROM pastchats.rows r TABLESAMPLE SYSTEM (least(100, 100 * 1000 / total)) REPEATABLE (1)
    WHERE r.author = session_user OR r.project <> ALL (hidden) LIMIT 2000
  ), counted AS (
    SELECT q.query, q.place, (SELECT count(*) FROM sample s WHERE s.words @@ q.query) AS found,
      (SELECT greatest(count(*), 1) FROM sample) AS sampled
    FROM unnest(queries) WITH ORDINALITY AS q (query, place)
  ), weighed AS (
    SELECT c.query, c.place, ln(1 + (c.sampled - c.found + 0.5) / (c.found + 0.5))::real AS weight,
      sum(total * c.found / c.sampled) OVER (ORDER BY c.found, c.place) AS reached,
      row_number() OVER (ORDER BY c.found, c.place) AS rarity
    FROM counted c
  )
  SELECT array_agg(w.weight ORDER BY w.place),
    string_agg(w.query::text, ' | ') FILTER (WHERE w.rarity = 1 OR w.reached <= 2000)::tsquery
  INTO weights, rare FROM weighed w;
  RETURN QUERY
    SELECT c.id, c.score FROM (
      SELECT f.id, f.at, (
        SELECT sum(w.weight) FROM unnest(queries, weights) AS w (query, weight) WHERE f.words @@ w.query
      )::real / (1 + ln(1 + length(f.words) / 50.0))::real AS score
      FROM (
        SELECT r.id, r.at, r.words FROM pastchats.rows r
        WHERE r.words @@ rare AND r.kind = 'turn' AND (r.author = session_user OR r.project <> ALL (hidden))
          AND (only_project IS NULL OR r.project = only_project)
          AND (only_roles IS NULL OR r.role = ANY (only_roles))
          AND (since IS NULL OR r.at >= since) AND (until IS NULL OR r.at BETWEEN 1 AND until)
          AND (only_outcomes IS NULL OR r.outcome = ANY (only_outcomes))
        LIMIT 2000
      ) f
    ) c ORDER BY c.score DESC, c.at DESC, c.id LIMIT most;
END $$;
REVOKE ALL ON FUNCTION pastchats.find_words, pastchats.hidden_projects FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pastchats.find_words, pastchats.hidden_projects TO pastchats_team;

-- For each person: CREATE ROLE ada LOGIN PASSWORD '…'; GRANT pastchats_team TO ada;
-- For a project that only some may read: INSERT INTO pastchats.readers VALUES ('payroll', 'ada');
