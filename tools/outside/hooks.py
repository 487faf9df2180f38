"""Schemathesis hooks: requests meet what exists, and a body that fits its schema is not called invalid."""

import json
import os
import re

import schemathesis

with open(os.environ["OUTSIDE_SETTINGS"], encoding="utf-8") as file:
    SETTINGS = json.load(file)
# Codes that say that a request has not the described form.
FORM = {"validation_failed", "malformed_request", "header_invalid", "header_missing"}


def is_positive(case):
    return case.meta is not None and case.meta.generation.mode.is_positive


def own(body):
    """The same body, from the organization and the agent of the caller: all others may not send it."""
    named = {name: value for name, value in SETTINGS["own"].items() if name in body}
    inner = {"metadata": own(body["metadata"])} if isinstance(body.get("metadata"), dict) else {}
    return {**body, **named, **inner}


@schemathesis.hook
def before_call(context, case, kwargs):
    """Half of the well-formed requests name things that exist; the other half keeps what was invented."""
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
    """API-02: what the document describes is refused for what it says, never for its form."""
    if not is_positive(case) or response.status_code not in (400, 422):
        return
    problem = response.json()
    if problem.get("code") not in FORM:
        return
    failures = problem["details"].get("failures", [])
    unlisted = [failure for failure in failures if not is_excused(failure, case.body)]
    if unlisted or not failures:
        raise AssertionError(f"{problem['code']} for a request that fits the document: {unlisted}")
