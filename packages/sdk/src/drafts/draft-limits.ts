/** Limits of drafts and approvals. */

/** Open drafts in one folder. */
export const MAXIMUM_OPEN_DRAFTS = 100

/** Size of one stored draft. The default limit of a request body is the same (O-14). */
export const MAXIMUM_DRAFT_BYTES = 2_097_152

/** Records of sent drafts, with their approvals, that a folder keeps. The oldest are removed first. */
export const MAXIMUM_SENT_DRAFTS = 10_000

/** How long an approval permits sending. */
export const APPROVAL_MAXIMUM_AGE_MS = 86_400_000

/** How far the time of an approval may lie in the future: clocks of two processes differ. */
export const APPROVAL_CLOCK_SKEW_MS = 60_000

export const MAXIMUM_NAME_CHARACTERS = 200
export const MAXIMUM_REASON_CHARACTERS = 2_000
export const MINIMUM_PASSPHRASE_CHARACTERS = 12
