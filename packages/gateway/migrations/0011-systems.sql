-- phase: expand
-- runs beside: 0011

-- Programs of the company that call the API. A key is shown once; this is its hash.
create table company_system (
  system_id text primary key,
  name text not null,
  key_hash bytea not null unique,
  key_start text not null,
  agents text[] not null,
  verbs text[] not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  revoked_at timestamptz
);

-- Policies that an administrator gave to an agent. Systems and models choose one; they cannot write one.
create table agent_policy (
  agent_id text not null,
  policy_id text not null,
  policy text not null,
  created_at timestamptz not null default now(),
  primary key (agent_id, policy_id)
);

-- Answers of requests with an Idempotency-Key. They hold ids and states, never content.
create table api_request (
  caller text not null,
  key_hash bytea not null,
  request_hash bytea not null,
  -- The request runs, at the latest until then. Null: answered.
  running_until timestamptz,
  status integer,
  answer text,
  created_at timestamptz not null default now(),
  primary key (caller, key_hash)
);
create index api_request_by_age on api_request (created_at);

-- Where items are pushed to. The secret signs; it is wrapped by the master key.
create table push_endpoint (
  endpoint_id text primary key,
  agent_id text not null,
  url text not null,
  secret bytea not null,
  created_at timestamptz not null default now(),
  removed_at timestamptz
);
create unique index push_endpoint_of_agent on push_endpoint (agent_id) where removed_at is null;
