-- phase: expand
-- runs beside: 0026

-- What received policies say about language models. A package names its policy by id only.
create table received_policy (
  agent_id text not null references gateway_agent,
  organization_id text not null,
  policy_id text not null,
  allowed_for_training boolean not null,
  allowed_for_runtime_reasoning boolean not null,
  package_id text not null,
  received_at timestamptz not null,
  primary key (agent_id, organization_id, policy_id)
);
