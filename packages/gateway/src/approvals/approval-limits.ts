/** Limits of passkeys, approvals and rules. */

/** A registration needs a sign-in that is at most this old. */
export const FRESH_SIGN_IN_MS = 600_000

/** How long a challenge can be answered. */
export const CHALLENGE_MS = 300_000

/** Open challenges of one person and purpose. */
export const MAXIMUM_OPEN_CHALLENGES = 20

export const MAXIMUM_PASSKEYS_OF_PERSON = 10
export const MAXIMUM_PASSKEY_NAME_CHARACTERS = 100

/** Length of one member of a browser's answer. */
export const MAXIMUM_ANSWER_CHARACTERS = 8_192

export const MAXIMUM_RULES = 200
export const MAXIMUM_PEOPLE_OF_RULE = 5
export const MAXIMUM_APPROVERS_OF_RULE = 50

/** Delegations of everybody that have not ended, and how long one lasts. */
export const MAXIMUM_DELEGATIONS = 1_000
export const MAXIMUM_DELEGATION_MS = 92 * 86_400_000

/** Decisions about one draft. */
export const MAXIMUM_DECISIONS = 50

export const MAXIMUM_REASON_CHARACTERS = 2_000
