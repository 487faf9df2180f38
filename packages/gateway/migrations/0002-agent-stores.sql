-- phase: expand
-- runs beside: 0002

-- Public parts as the SDK describes them (JSON text). The private part is encrypted by the master key, or lies in a
-- hardware module that knows it by its reference.
create table agent_key (
  agent_id text not null references gateway_agent,
  key_id text not null,
  description text not null,
  private_key_encrypted bytea,
  reference text,
  primary key (agent_id, key_id),
  check (num_nonnulls(private_key_encrypted, reference) = 1)
);

create table agent_pin (
  agent_id text not null references gateway_agent,
  peer_id text not null,
  pins text not null,
  primary key (agent_id, peer_id)
);

-- Sealed packages until the exchange has accepted them.
create table agent_outbox (
  agent_id text not null references gateway_agent,
  package_id text not null,
  state text not null,
  revision integer not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  entry text not null,
  primary key (agent_id, package_id)
);
create index agent_outbox_by_state on agent_outbox (agent_id, state, created_at);

-- Small documents of an agent: state of the log, of the monitor, the published profile, the approver.
create table agent_document (
  agent_id text not null references gateway_agent,
  name text not null,
  content text not null,
  primary key (agent_id, name)
);

-- Proof that an exchange showed two histories. It is evidence, so nothing changes or deletes it.
create table agent_split_view (
  agent_id text not null references gateway_agent,
  number bigint generated always as identity,
  view text not null,
  primary key (agent_id, number)
);
create trigger agent_split_view_is_append_only before update or delete on agent_split_view
  for each row execute function refuse_change();

-- Drafts are plaintext of the company: each is encrypted by a data key of its own. A sent one keeps its decision only.
create table agent_draft (
  agent_id text not null references gateway_agent,
  draft_id text not null,
  created_at timestamptz not null,
  sent_at timestamptz,
  wrapped_key bytea not null,
  sealed bytea not null,
  primary key (agent_id, draft_id)
);
create index agent_draft_sent on agent_draft (agent_id, sent_at) where sent_at is not null;
