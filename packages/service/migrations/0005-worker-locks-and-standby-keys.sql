-- Deliveries: a claim is held by a worker's session lock instead of a lease --------------------------------------------

-- What a worker took at once, and since when its requests may have left; null: not begun, so no attempt was made.
-- Claims from before this migration count as begun: their workers are gone, and hold no lock.
alter table delivery_claim drop constraint delivery_claim_pkey;
alter table delivery_claim add column begun_at timestamptz;
update delivery_claim set begun_at = leased_until - interval '30 seconds';
alter table delivery_claim drop column leased_until;
alter table delivery_claim add primary key (worker, claim_id);

-- While an attempt is under way: the claim that it belongs to. Only that claim can record its result.
alter table delivery add column claim_id bigint;
alter table delivery alter column claim_id set statistics 10;
update delivery set claim_id = latest.claim_id
from (
  select delivery_id, max(claim_id) as claim_id from delivery_claim, unnest(delivery_ids) as delivery_id
  group by delivery_id) as latest
where delivery.delivery_id = latest.delivery_id and delivery.state = 'pending' and delivery.leased_until is not null;
alter table delivery drop column leased_until, drop column leased_by;

-- Endpoints: one request at a time until the first 2xx (O-45) ----------------------------------------------------------

alter table webhook_endpoint
  add column answered_at timestamptz,
  -- The latest claim before the first 2xx.
  add column tried_at timestamptz;
update webhook_endpoint as endpoint set answered_at = (
  select finished_at from delivery
  where delivery.webhook_endpoint_id = endpoint.webhook_endpoint_id and state = 'delivered'
  order by delivery_id limit 1);

-- Platform keys: published and unused, so that an emergency moves to a key that receivers know (ID-08) -----------------

alter table platform_key add column standby boolean not null default false;
