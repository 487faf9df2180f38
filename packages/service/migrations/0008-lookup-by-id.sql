-- An operator looks up a package by the id that an agent reports: the correlation id of its submission, or a receipt.
-- Hash indexes: both ids are arbitrary text of the caller, and only equality is ever asked.
create index package_by_correlation on package using hash (correlation_id);
create index package_receipt_by_id on package_receipt using hash (receipt_id);
