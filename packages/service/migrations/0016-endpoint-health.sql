-- phase: expand
-- runs beside: 0009
-- locks: webhook_endpoint access exclusive; alert access exclusive

-- Endpoints that fail -----------------------------------------------------------------------------------------------------

alter table webhook_endpoint
  -- The first failed attempt after the last 2xx response. Null: the last attempt succeeded, or there was none.
  add column failing_since timestamptz,
  -- Result of the last failed attempt since then, such as `status 404` or `dns`.
  add column last_error text,
  -- When the alert about this failure was raised.
  add column failure_alerted_at timestamptz,
  -- When the last alert about a delivery that failed permanently was raised.
  add column failed_alerted_at timestamptz;
create index webhook_endpoint_failing on webhook_endpoint (failing_since) where failure_alerted_at is not null;

alter table alert drop constraint alert_kind_check;
alter table alert add constraint alert_kind_check check (kind in (
  'delivery_dead', 'delivery_failed', 'endpoint_disabled', 'endpoint_failing', 'log_behind', 'log_refusing',
  'log_unwitnessed', 'certificate_expiring', 'key_expiring'));
