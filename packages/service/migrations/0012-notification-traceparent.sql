-- phase: expand
-- runs beside: 0009
-- locks: notification access exclusive

-- W3C trace context of the request that caused the notification, for the spans of its deliveries. Null without tracing.
alter table notification add column traceparent text;
-- Nothing searches for it.
alter table notification alter column traceparent set statistics 0;
