-- phase: expand
-- runs beside: 0027
-- locks: gateway_instance access exclusive

-- Where an instance listens: nothing is pushed there. Empty for an instance of an earlier release.
alter table gateway_instance add column addresses text[] not null default '{}';
alter table gateway_instance add column ports text[] not null default '{}';
