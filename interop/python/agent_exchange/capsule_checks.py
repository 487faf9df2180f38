"""What a verification found: which checks fail, and whether something rests on the exchange's word alone."""

from cryptography.exceptions import InvalidSignature
from jwcrypto.common import JWException

from .canonical_json import Refused

# Expected rejections; any other exception is a defect of this implementation.
REFUSALS = (Refused, JWException, InvalidSignature)


class Contradiction(Refused):
    """A capsule that contradicts itself or its log, with the codes of all checks that fail."""

    def __init__(self, codes):
        super().__init__(", ".join(codes))
        self.codes = codes


class Checks:
    def __init__(self):
        self.failing, self.is_lowered, self.is_in_doubt = [], False, False

    def check(self, code, holds):
        if not holds and code not in self.failing:
            self.failing.append(code)
        return bool(holds)

    def lower(self):
        self.is_lowered = True

    def doubt(self):
        self.is_in_doubt = True

    def conclude(self):
        if self.failing:
            raise Contradiction(self.failing)


def holds(check, *arguments):
    try:
        check(*arguments)
        return True
    except REFUSALS:
        return False


def attempt(read, *arguments):
    """None where it refuses."""
    try:
        return read(*arguments)
    except REFUSALS:
        return None


