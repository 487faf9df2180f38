"""Schemathesis hooks: use existing resources, and check that no schema-valid body is refused as invalid."""

import json
import os
import re

import schemathesis

with open(os.environ["OUTSIDE_SETTINGS"], encoding="utf-8") as file:
    SETTINGS = json.load(file)
# Problem codes for requests that do not match the document.
FORM = {"validation_failed", "malformed_request", "header_invalid", "header_missing"}


def is_positive(case):
    return case.meta is not None and case.meta.generation.mode.is_positive


def own(body):
    """Replaces organization and agent by those of the caller, because others would not be permitted."""
    named = {name: value for name, value in SETTINGS["own"].items() if name in body}
    inner = {"metadata": own(body["metadata"])} if isinstance(body.get("metadata"), dict) else {}
    return {**body, **named, **inner}


@schemathesis.hook
def before_call(context, case, kwargs):
    """Half of the valid requests name existing resources; the others keep the generated ids."""
    if not is_positive(case):
        return
    known = SETTINGS["known"].get(case.operation.definition.raw.get("operationId"))
    if known and len(json.dumps(case.path_parameters, default=str)) % 2 == 0:
        case.path_parameters = dict(known)
    if isinstance(case.body, dict):
        case.body = own(case.body)


def is_excused(failure, body):
    return any(
        failure["rule"] == row["rule"]
        and re.search(row["pointer"], failure["pointer"])
        and re.search(row.get("value", ""), str(value_at(body, failure["pointer"])))
        for row in SETTINGS["refusals"]
    )


def value_at(body, pointer):
    for name in pointer.split("/")[1:]:
        body = body[int(name)] if isinstance(body, list) else body.get(name)
    return body


@schemathesis.check
def described_form_is_taken(ctx, response, case):
    """API-02: a request that matches the document is never refused as malformed or invalid."""
    if not is_positive(case) or response.status_code not in (400, 422):
        return
    problem = response.json()
    if problem.get("code") not in FORM:
        return
    failures = problem["details"].get("failures", [])
    unlisted = [failure for failure in failures if not is_excused(failure, case.body)]
    if unlisted or not failures:
        raise AssertionError(f"{problem['code']} for a request that matches the document: {unlisted}")
