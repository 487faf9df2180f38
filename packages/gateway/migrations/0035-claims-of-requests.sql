-- phase: expand
-- runs beside: 0027
-- locks: api_request access exclusive

-- Who runs the request: a run that was taken over must not end the claim of its successor.
alter table api_request add column claim_id text;
