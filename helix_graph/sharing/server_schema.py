"""The tables of a team's memory on PostgreSQL, and who may do what there.

One table holds every shared object (an episode, an insight, an outcome, an entry of a topic) under its project, author
and subject; the subject is a hash of what it is about, so that its name is no plain text. Who wrote an object is what
the server knows of the connection (``session_user``), never what a client says. Deleting an object leaves a tombstone,
which only the server writes: it removes the copies elsewhere, and the same author cannot push the subject again.

A second table has what nobody but its author reads (`helix_graph.sharing.private_lines`): its rows are never changed,
come under no number that others read, and leave no tombstone that others see.

Numbers (``at``) are drawn under a lock of the project that lasts until the commit, so they appear in the order in which
they were drawn: a client that remembers the last number it has seen misses nothing. The lock is a row that only the
server's functions reach, so nobody can hold it who may not write there.

What a person may do is said for each project, in the table of members, which every policy asks:

==========  ===============================================================================================
role        may do in that project
==========  ===============================================================================================
``reader``  read its objects
``member``  also write objects, and delete its own
``admin``   also say who is a member of it, and delete anybody's objects
==========  ===============================================================================================

A person's role logs in and is granted ``helix_reader``, ``helix_member`` or ``helix_admin``: these open the tables, and
alone open no project. Steps are only ever added, and each leaves what older clients use as it was; a step that cannot
raises ``least_client``, and older clients are told to update.
"""

from __future__ import annotations

from typing import Literal, get_args

#: The version of the tables that this program makes, and which it needs at least to share; administration needs the
#: newest.
VERSION, NEEDED = 5, 1
#: What this program is to the server: tables with a higher ``least_client`` are not used.
CLIENT = 2
TeamRole = Literal["reader", "member", "admin"]
TEAM_ROLES: tuple[TeamRole, ...] = get_args(TeamRole)
#: The largest object, in bytes; an episode of a long session has a tenth of it.
LARGEST_OBJECT = 8 << 20
#: The largest insight, outcome or entry of a topic, in bytes; the longest text of an entry has 100,000 characters.
LARGEST_RECORD = 128 << 10

_GROUPS = """
DO $$
DECLARE name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['helix_reader', 'helix_member', 'helix_admin'] LOOP
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = name) THEN
      EXECUTE pg_catalog.format('CREATE ROLE %I NOLOGIN', name);
    END IF;
  END LOOP;
END $$;
GRANT helix_reader TO helix_member;
GRANT helix_member TO helix_admin;
"""

_TABLES = f"""
REVOKE ALL ON SCHEMA helix_team FROM PUBLIC;
CREATE TABLE helix_team.member (
  project text NOT NULL CHECK (project ~ '^[A-Za-z0-9][A-Za-z0-9._-]{{0,99}}$'),
  member text NOT NULL,
  PRIMARY KEY (project, member)
);
CREATE SEQUENCE helix_team.number;
CREATE TABLE helix_team.object (
  project text NOT NULL,
  author text NOT NULL DEFAULT session_user,
  subject text NOT NULL CHECK (subject ~ '^[0-9a-f]{{32}}$'),
  kind text NOT NULL CHECK (kind IN ('episode', 'record')),
  hash text NOT NULL CHECK (hash = pg_catalog.encode(pg_catalog.sha256(data), 'hex')),
  data bytea NOT NULL CHECK (pg_catalog.octet_length(data) <= {LARGEST_OBJECT}),
  at bigint NOT NULL,
  PRIMARY KEY (project, author, subject)
);
CREATE UNIQUE INDEX object_at ON helix_team.object (project, at);
CREATE TABLE helix_team.tombstone (
  project text NOT NULL,
  author text NOT NULL,
  subject text NOT NULL,
  removed_by text NOT NULL DEFAULT session_user,
  at bigint NOT NULL,
  PRIMARY KEY (project, author, subject)
);
CREATE UNIQUE INDEX tombstone_at ON helix_team.tombstone (project, at);
"""

_FUNCTIONS = """
CREATE FUNCTION helix_team.is_admin() RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS
$$ SELECT pg_has_role(session_user, 'helix_admin', 'MEMBER') $$;

CREATE FUNCTION helix_team.my_projects() RETURNS SETOF text LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS
$$ SELECT project FROM helix_team.member WHERE member = session_user OR helix_team.is_admin() $$;

CREATE FUNCTION helix_team.next_number(project text) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('helix_team'), hashtext(project));
  RETURN nextval('helix_team.number');
END $$;

CREATE FUNCTION helix_team.before_write() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    NEW.project := OLD.project; NEW.author := OLD.author; NEW.subject := OLD.subject;
  ELSE
    NEW.author := session_user;
  END IF;
  NEW.at := helix_team.next_number(NEW.project);
  IF EXISTS (SELECT FROM helix_team.tombstone t
             WHERE t.project = NEW.project AND t.author = NEW.author AND t.subject = NEW.subject) THEN
    RETURN NULL;
  END IF;
  RETURN NEW;
END $$;

CREATE FUNCTION helix_team.after_delete() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO helix_team.tombstone (project, author, subject, removed_by, at)
  VALUES (OLD.project, OLD.author, OLD.subject, session_user, helix_team.next_number(OLD.project))
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;

CREATE TRIGGER before_write BEFORE INSERT OR UPDATE ON helix_team.object
FOR EACH ROW EXECUTE FUNCTION helix_team.before_write();
CREATE TRIGGER after_delete AFTER DELETE ON helix_team.object
FOR EACH ROW EXECUTE FUNCTION helix_team.after_delete();
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA helix_team FROM PUBLIC;
"""

_RIGHTS = """
ALTER TABLE helix_team.member ENABLE ROW LEVEL SECURITY;
ALTER TABLE helix_team.object ENABLE ROW LEVEL SECURITY;
ALTER TABLE helix_team.tombstone ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_membership ON helix_team.member FOR SELECT USING (member = session_user);
CREATE POLICY administration ON helix_team.member FOR ALL
  USING ((SELECT helix_team.is_admin())) WITH CHECK ((SELECT helix_team.is_admin()));
CREATE POLICY reading ON helix_team.object FOR SELECT
  USING (project IN (SELECT helix_team.my_projects()));
CREATE POLICY adding ON helix_team.object FOR INSERT
  WITH CHECK (author = session_user AND project IN (SELECT helix_team.my_projects()));
CREATE POLICY replacing ON helix_team.object FOR UPDATE
  USING (author = session_user AND project IN (SELECT helix_team.my_projects()));
CREATE POLICY deleting ON helix_team.object FOR DELETE
  USING ((author = session_user OR (SELECT helix_team.is_admin())) AND project IN (SELECT helix_team.my_projects()));
CREATE POLICY reading ON helix_team.tombstone FOR SELECT
  USING (project IN (SELECT helix_team.my_projects()));
GRANT USAGE ON SCHEMA helix_team TO helix_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA helix_team TO helix_reader;
GRANT EXECUTE ON FUNCTION helix_team.is_admin(), helix_team.my_projects() TO helix_reader;
GRANT INSERT (project, subject, kind, hash, data), DELETE ON helix_team.object TO helix_member;
GRANT UPDATE (kind, hash, data) ON helix_team.object TO helix_member;
GRANT INSERT, DELETE ON helix_team.member TO helix_admin;
"""

#: Roles were the same in all projects. The locks of `ALTER POLICY` wait for every writer, so none has the lock of the
#: first version when the next step changes it.
_ROLE_BY_PROJECT = """
ALTER TABLE helix_team.member ADD COLUMN role text NOT NULL DEFAULT 'member'
  CHECK (role IN ('reader', 'member', 'admin'));
UPDATE helix_team.member SET role = CASE
  WHEN pg_catalog.pg_has_role(oid, 'helix_admin', 'MEMBER') THEN 'admin'
  WHEN pg_catalog.pg_has_role(oid, 'helix_member', 'MEMBER') THEN 'member'
  ELSE 'reader' END
FROM pg_catalog.pg_roles WHERE rolname = member;

CREATE OR REPLACE FUNCTION helix_team.my_projects() RETURNS SETOF text LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS
$$ SELECT project FROM helix_team.member WHERE member = session_user $$;

CREATE FUNCTION helix_team.my_projects_as(roles text[]) RETURNS SETOF text LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS
$$ SELECT project FROM helix_team.member WHERE member = session_user AND role = ANY(roles) $$;

ALTER POLICY administration ON helix_team.member
  USING (project IN (SELECT helix_team.my_projects_as('{admin}')))
  WITH CHECK (project IN (SELECT helix_team.my_projects_as('{admin}')));
ALTER POLICY adding ON helix_team.object
  WITH CHECK (author = session_user AND project IN (SELECT helix_team.my_projects_as('{member,admin}')));
ALTER POLICY replacing ON helix_team.object
  USING (author = session_user AND project IN (SELECT helix_team.my_projects_as('{member,admin}')));
ALTER POLICY deleting ON helix_team.object
  USING ((author = session_user AND project IN (SELECT helix_team.my_projects_as('{member,admin}')))
    OR project IN (SELECT helix_team.my_projects_as('{admin}')));
DROP FUNCTION helix_team.is_admin();

REVOKE ALL ON FUNCTION helix_team.my_projects_as(text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION helix_team.my_projects_as(text[]) TO helix_reader;
GRANT UPDATE (role) ON helix_team.member TO helix_admin;
"""

#: Whoever has a right to DELETE on a table may lock the whole of it, for all projects, as long as they like: members
#: delete by a function. A transaction that has the turn of its project and then does nothing is ended.
_NO_LOCKS = """
CREATE FUNCTION helix_team.forget(project text, subjects text[]) RETURNS SETOF text LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
  DELETE FROM helix_team.object o WHERE o.project = forget.project AND author = session_user
    AND subject = ANY(subjects) AND o.project IN (SELECT helix_team.my_projects_as('{member,admin}'))
  RETURNING subject
$$;
REVOKE ALL ON FUNCTION helix_team.forget(text, text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION helix_team.forget(text, text[]) TO helix_member;
REVOKE DELETE ON helix_team.object FROM helix_member;
GRANT DELETE ON helix_team.object TO helix_admin;

CREATE TABLE IF NOT EXISTS helix_team.turn (project text PRIMARY KEY);
CREATE OR REPLACE FUNCTION helix_team.next_number(project text) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM set_config('idle_in_transaction_session_timeout', '3s', true);
  PERFORM FROM helix_team.turn t WHERE t.project = next_number.project FOR UPDATE;
  IF NOT FOUND THEN
    INSERT INTO helix_team.turn VALUES (next_number.project) ON CONFLICT DO NOTHING;
    PERFORM FROM helix_team.turn t WHERE t.project = next_number.project FOR UPDATE;
  END IF;
  RETURN nextval('helix_team.number');
END $$;
UPDATE helix_team.meta SET least_client = 2;
"""

#: What is its author's alone. Each row is about a thing, ``key``, and rests on sessions and insights that may be
#: forgotten; all three are hashes, and a name takes four bytes or more of the data. Rows are added and deleted, never
#: changed.
_PRIVATE = f"""
CREATE TABLE helix_team.private (
  project text NOT NULL,
  author text NOT NULL DEFAULT session_user,
  subject text NOT NULL CHECK (subject ~ '^[0-9a-f]{{32}}$'),
  key text NOT NULL CHECK (key ~ '^[0-9a-f]{{32}}$'),
  rests_on text[] NOT NULL CHECK (
    pg_catalog.cardinality(rests_on) <= {LARGEST_RECORD // 4}
    AND pg_catalog.array_to_string(rests_on, ',', '-') ~ '^([0-9a-f]{{32}}(,[0-9a-f]{{32}})*)?$'
    AND pg_catalog.length(pg_catalog.array_to_string(rests_on, ',', '-'))
      = greatest(33 * pg_catalog.cardinality(rests_on) - 1, 0)
  ),
  hash text NOT NULL CHECK (hash = pg_catalog.encode(pg_catalog.sha256(data), 'hex')),
  data bytea NOT NULL CHECK (pg_catalog.octet_length(data) <= {LARGEST_RECORD}),
  at bigint NOT NULL,
  PRIMARY KEY (project, author, subject)
);
CREATE UNIQUE INDEX private_at ON helix_team.private (project, at);
CREATE TRIGGER before_write BEFORE INSERT ON helix_team.private
FOR EACH ROW EXECUTE FUNCTION helix_team.before_write();
CREATE TRIGGER after_delete AFTER DELETE ON helix_team.private
FOR EACH ROW EXECUTE FUNCTION helix_team.after_delete();
ALTER TABLE helix_team.private ENABLE ROW LEVEL SECURITY;
CREATE POLICY reading ON helix_team.private FOR SELECT
  USING (author = session_user AND project IN (SELECT helix_team.my_projects()));
CREATE POLICY adding ON helix_team.private FOR INSERT
  WITH CHECK (author = session_user AND project IN (SELECT helix_team.my_projects_as('{{member,admin}}')));
GRANT SELECT ON helix_team.private TO helix_reader;
GRANT INSERT (project, subject, key, rests_on, hash, data) ON helix_team.private TO helix_member;
"""

#: Whoever forgets, forgets in both tables.
_FORGET_BOTH = """
CREATE OR REPLACE FUNCTION helix_team.forget(project text, subjects text[]) RETURNS SETOF text
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  WITH shared AS (
    DELETE FROM helix_team.object o WHERE o.project = forget.project AND author = session_user
      AND subject = ANY(subjects) AND o.project IN (SELECT helix_team.my_projects_as('{member,admin}'))
    RETURNING subject
  ), private AS (
    DELETE FROM helix_team.private p WHERE p.project = forget.project AND author = session_user
      AND subject = ANY(subjects) AND p.project IN (SELECT helix_team.my_projects_as('{member,admin}'))
    RETURNING subject
  )
  SELECT subject FROM shared UNION ALL SELECT subject FROM private
$$;
"""

#: How much somebody writes and forgets that only they read is nobody else's matter. Such rows have numbers of their
#: own, since gaps among those of objects could be counted; their tombstones have them below zero, apart from the
#: others'. Of tombstones from before, nothing says which were of such rows.
_UNCOUNTED = """
CREATE SEQUENCE helix_team.private_number;
SELECT pg_catalog.setval('helix_team.private_number', (SELECT coalesce(max(at), 0) + 1 FROM helix_team.private));
CREATE OR REPLACE FUNCTION helix_team.before_write() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    NEW.project := OLD.project; NEW.author := OLD.author; NEW.subject := OLD.subject;
  ELSE
    NEW.author := session_user;
  END IF;
  IF TG_TABLE_NAME = 'private' THEN
    NEW.at := nextval('helix_team.private_number');
  ELSE
    NEW.at := helix_team.next_number(NEW.project);
  END IF;
  IF EXISTS (SELECT FROM helix_team.tombstone t
             WHERE t.project = NEW.project AND t.author = NEW.author AND t.subject = NEW.subject) THEN
    RETURN NULL;
  END IF;
  RETURN NEW;
END $$;
CREATE OR REPLACE FUNCTION helix_team.after_delete() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO helix_team.tombstone (project, author, subject, removed_by, at)
  VALUES (OLD.project, OLD.author, OLD.subject, session_user, CASE TG_TABLE_NAME
    WHEN 'private' THEN -nextval('helix_team.private_number') ELSE helix_team.next_number(OLD.project) END)
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
ALTER POLICY reading ON helix_team.tombstone
  USING (project IN (SELECT helix_team.my_projects()) AND (at > 0 OR author = session_user));
"""

#: Run once, before the steps; the server has a name of its own, so that a client notices another in its place.
BEGIN = """
CREATE SCHEMA IF NOT EXISTS helix_team;
CREATE TABLE IF NOT EXISTS helix_team.meta (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  version integer NOT NULL DEFAULT 0,
  least_client integer NOT NULL DEFAULT 1,
  server uuid NOT NULL DEFAULT gen_random_uuid()
);
INSERT INTO helix_team.meta DEFAULT VALUES ON CONFLICT DO NOTHING;
"""
#: Step N leads from version N to N + 1, and is never edited once released.
STEPS: tuple[str, ...] = (
    _GROUPS + _TABLES + _FUNCTIONS + _RIGHTS,
    _ROLE_BY_PROJECT,
    _NO_LOCKS,
    _PRIVATE + _FORGET_BOTH,
    _UNCOUNTED,
)


def script(*, version: int = VERSION) -> str:
    """All of it as SQL for ``psql``, which `helix_graph.sharing.administration.set_up` runs, for a person to read.

    >>> script().startswith("BEGIN;")
    True
    """
    done = f"UPDATE helix_team.meta SET version = {version};"  # noqa: S608  (a number)
    parts = ("BEGIN;", BEGIN, *STEPS[:version], done, "COMMIT;\n")
    return "\n".join(part.strip("\n") for part in parts) + "\n"
