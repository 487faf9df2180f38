-- phase: contract
-- runs beside: 0018

-- Every process can add entries to the chain of a package: packages that are accepted from now on have one.
update evidence_version set version = 2;
