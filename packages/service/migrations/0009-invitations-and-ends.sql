-- Invitations: a one-time secret that lets the holder register one client of an organization -------------------------------

create table invitation (
  -- Begins with the time of its creation, so that the key orders lists by age.
  invitation_id text primary key,
  organization_id text not null references organization,
  -- The only agent that it admits; null: one new agent.
  agent_id text,
  -- SHA-256 of 256 random bits; the secret itself is not stored.
  secret_hash bytea not null unique check (octet_length(secret_hash) = 32),
  created_at timestamptz not null,
  created_by text not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  used_at timestamptz,
  client_id text,
  used_agent_id text,
  -- RFC 7638 thumbprint of the client key: the same key may repeat the request.
  client_thumbprint text,
  check (num_nulls(used_at, client_id, used_agent_id, client_thumbprint) in (0, 4))
);
create index invitation_by_organization on invitation (organization_id, invitation_id);

-- An invitation without an agent admits no agent that a client already acts as.
create index oauth_client_by_agent on oauth_client (agent_id) where agent_id is not null;

-- The end of an organization: irreversible, its data is removed in bounded steps -------------------------------------------

alter table organization drop constraint organization_status_check;
alter table organization add constraint organization_status_check check (status in ('active', 'suspended', 'ended'));

create table organization_end (
  organization_id text primary key references organization,
  started_at timestamptz not null,
  started_by text not null,
  reason text not null,
  -- JSON: the number of removed rows by kind.
  removed text not null default '{}',
  finished_at timestamptz
);
create index organization_end_unfinished on organization_end (organization_id) where finished_at is null;

-- An ended organization stays ended: its id, keys and evidence name it for ever.
create function organization_end_is_final() returns trigger language plpgsql as $$
begin
  if old.status = 'ended' and new.status <> 'ended' then
    raise exception 'an ended organization stays ended' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger organization_end_is_final before update on organization
  for each row execute function organization_end_is_final();
