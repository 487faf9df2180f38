-- phase: expand
-- runs beside: 0027
-- locks: inbox_item access exclusive

-- The reason that a system gave, under the master key: it may quote content. `failure` keeps the gateway's own words.
alter table inbox_item add column failure_wrapped bytea;
