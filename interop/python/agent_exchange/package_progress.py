"""Where a package is, entry by entry."""

ORDER = ["accepted", "encrypted_available", "transfer_started", "delivered", "received", "opened", "responded"]
# States that a party has to have signed for.
SIGNED = {"received", "opened", "revoked"}


class PackageProgress:
    """Each step returns whether it follows."""

    def __init__(self, transport_mode):
        other = "transfer_started" if transport_mode == "native" else "encrypted_available"
        self.order = [state for state in ORDER if state != other]
        self.state = None

    def accept(self, states):
        is_first = self.state is None and isinstance(states, list) and states
        if not is_first or states != self.order[: len(states)] or "delivered" in states:
            return False
        self.state = states[-1]
        return True

    def move(self, state, implied, is_signed):
        if self.state in (None, "revoked") or state not in (*self.order, "revoked"):
            return False
        if state in SIGNED and not is_signed:
            return False
        here = self.order.index(self.state)
        there = here + 1 if state == "revoked" else self.order.index(state)
        if there <= here or implied != self.order[here + 1 : there]:
            return False
        self.state = state
        return True

    def respond(self, is_signed):
        if self.state == "responded":
            return True
        here = self.order.index(self.state or "accepted")
        return self.move("responded", self.order[here + 1 : -1], is_signed)
