-- phase: expand
-- runs beside: 0011

-- Who must approve what. A rule is never changed: a removed one and its successor are two rows.
create table approval_rule (
  rule_id text primary key,
  -- Null: any.
  partner text,
  policy_id text,
  package_type text,
  sensitivity text check (sensitivity in ('public', 'internal', 'confidential', 'restricted')),
  people integer not null check (people between 1 and 5),
  -- Empty: everybody with the role approver.
  approvers text[] not null,
  added_by text not null,
  added_at timestamptz not null,
  removed_by text,
  removed_at timestamptz
);

-- A person lets another one approve for a time.
create table approval_delegation (
  delegation_id text primary key,
  from_person text not null,
  to_person text not null check (to_person <> from_person),
  starts_at timestamptz not null,
  ends_at timestamptz not null,
  added_by text not null
);
create index approval_delegation_to on approval_delegation (to_person, ends_at);

-- Who wrote a draft: two may have written the same one. None of them approves it.
create table draft_author (
  agent_id text not null,
  draft_id text not null,
  author_kind text not null check (author_kind in ('person', 'system', 'model')),
  author_id text not null,
  primary key (agent_id, draft_id, author_kind, author_id)
);

-- Decisions of people with everything that verifies them again: statement, assertion and public key, as they were.
create table draft_decision (
  number bigint generated always as identity primary key,
  agent_id text not null references gateway_agent,
  draft_id text not null,
  reference text not null unique,
  person_id text not null,
  decision text not null check (decision in ('approved', 'declined')),
  statement text not null,
  client_data bytea not null,
  authenticator_data bytea not null,
  signature bytea not null,
  passkey_id text not null,
  public_key bytea not null,
  counter_before bigint not null,
  signed_in_at timestamptz not null,
  registered_at timestamptz not null,
  origin text not null,
  rp_id text not null,
  answered_at timestamptz not null,
  -- The reason stays inside, encrypted by a data key of its own.
  reason_wrapped_key bytea,
  reason_sealed bytea
);
create index draft_decision_of_draft on draft_decision (agent_id, draft_id, number);
create trigger draft_decision_is_append_only before update or delete on draft_decision
  for each row execute function refuse_change();
create trigger draft_decision_is_not_truncated before truncate on draft_decision
  for each statement execute function refuse_change();
