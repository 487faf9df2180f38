"""Checks the published vectors and prints the differences as JSON."""

import json
import pathlib

from profiles import PROFILES, REFUSALS

VECTORS = pathlib.Path(__file__).parents[1] / "vectors"


def disagreement(check, vector):
    try:
        output = check(vector["input"])
    except REFUSALS as error:
        if vector["expect"] == "valid":
            return f"refused: {error!r}"
        # Only capsules of format 3 have codes that are part of the format.
        codes = sorted(getattr(error, "codes", []))
        return None if codes == vector.get("codes", []) else f"refused for {codes}"
    if vector["expect"] == "invalid":
        return "accepted"
    return None if output == vector["output"] else f"gave {json.dumps(output)}"


def report(profile):
    vectors = json.loads((VECTORS / f"{profile}.json").read_text("utf-8"))["vectors"]
    # This implementation has no JSON Schema validator.
    mine = [vector for vector in vectors if vector.get("code") != "schema_invalid"]
    found = {vector["name"]: disagreement(PROFILES[profile], vector) for vector in mine}
    return {
        "profile": profile,
        "valid": sum(vector["expect"] == "valid" for vector in mine),
        "invalid": sum(vector["expect"] == "invalid" for vector in mine),
        "disagreements": [f"{name} {reason}" for name, reason in found.items() if reason],
    }


files = {path.stem for path in VECTORS.glob("*.json")}
nothing = {"valid": 0, "invalid": 0, "disagreements": ["no implementation"]}
missing = [{"profile": name, **nothing} for name in sorted(files - set(PROFILES))]
print(json.dumps([report(profile) for profile in PROFILES] + missing))
