-- phase: expand
-- runs beside: 0011

-- Passkeys of people (WebAuthn). A removed one stays as a row: it says when its approvals stopped to count.
create table passkey (
  passkey_id text primary key,
  person_id text not null,
  name text not null,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null,
  signed_in_at timestamptz not null,
  registered_at timestamptz not null,
  last_used_at timestamptz,
  removed_at timestamptz
);
create index passkey_of_person on passkey (person_id) where removed_at is null;

-- What a passkey was asked to sign. Each can be answered once, until it ends.
create table passkey_challenge (
  challenge text primary key,
  purpose text not null check (purpose in ('register', 'sign_in', 'decide')),
  -- Null: a sign-in, before the person is known.
  person_id text,
  -- The statement whose digest is the challenge of a decision, as it was hashed.
  statement text,
  ends_at timestamptz not null
);
create index passkey_challenge_of_person on passkey_challenge (purpose, person_id);
create index passkey_challenge_by_end on passkey_challenge (ends_at);
