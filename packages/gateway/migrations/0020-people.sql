-- phase: expand
-- runs beside: 0011

-- People who use the desk. A removed one stays as a row, because records name it.
create table person (
  person_id text primary key,
  name text not null,
  email text,
  roles text[] not null,
  -- Who the identity provider says it is. Null: invited here.
  issuer text,
  subject text,
  added_at timestamptz not null,
  removed_at timestamptz,
  unique (issuer, subject),
  check ((issuer is null) = (subject is null))
);

-- One-time links of invited people, as hashes. One of each person counts: the newest.
create table person_link (
  link_hash bytea primary key,
  person_id text not null references person,
  ends_at timestamptz not null,
  used_at timestamptz
);
create index person_link_of_person on person_link (person_id);

-- Browsers in which somebody is signed in. The cookie holds a token; this is its hash.
create table desk_session (
  session_id text primary key,
  token_hash bytea not null unique,
  person_id text not null references person,
  signed_in_by text not null check (signed_in_by in ('provider', 'link', 'passkey')),
  agent_id text,
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  expires_at timestamptz not null,
  ended_at timestamptz
);
create index desk_session_of_person on desk_session (person_id, created_at desc) where ended_at is null;
create index desk_session_by_end on desk_session (expires_at);

-- What administrators changed, and every sign-in.
create table administration_record (
  number bigint generated always as identity primary key,
  at timestamptz not null,
  actor_kind text not null check (actor_kind in ('person', 'command', 'gateway')),
  actor_id text not null,
  action text not null,
  target text not null,
  details text not null
);
create trigger administration_record_is_append_only before update or delete on administration_record
  for each row execute function refuse_change();
create trigger administration_record_is_not_truncated before truncate on administration_record
  for each statement execute function refuse_change();
