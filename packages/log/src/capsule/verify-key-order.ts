import { SIGNATURE_CODES } from '../verdict/check-codes.ts'
import type { Check, Checks } from '../verdict/check.ts'
import type { OpenedLog } from './open-log.ts'
import { eventsByKey, keyName, type LoggedKeyEvent } from './verify-key-leaves.ts'

interface Placed {
  /** The leaf of the entry that a check is about. */
  readonly leafOf: (check: Check) => number | undefined
  readonly logged: readonly LoggedKeyEvent[]
  readonly log: OpenedLog
}

/** "Valid at its time" is an order of indexes: the key was logged before what it signed, and its revocation after. */
export function verifyKeyOrder(
  signed: readonly Check[],
  { leafOf, logged, log }: Placed,
  checks: Checks,
): void {
  const byKey = eventsByKey(logged)
  for (const check of signed) {
    const { code, result, agent_id, key_id, package_id, position } = check
    const isUse = SIGNATURE_CODES.has(code) || code === 'acceptance_key'
    const index = leafOf(check)
    if (!isUse || result === 'fails' || agent_id === undefined || key_id === undefined) continue
    if (index === undefined || position === undefined) continue
    const own = byKey.get(keyName(agent_id, key_id)) ?? []
    const about = { agent_id, key_id, position, ...(package_id !== undefined && { package_id }) }
    const registered = own.find(({ event }) => event.kind === 'registered')
    if (registered && registered.index > index)
      checks.fails('key_logged_before_use', { ...about, values: { use: code, index } })
    const revoked = own.find((each) => each.event.kind === 'revoked' && each.index < index)
    // The clock of the exchange does not override the order of the log. It is no contradiction: records from before the
    // log follow all key events, and a policy receipt enters the log with its package.
    if (revoked)
      checks.unproved('key_used_before_revocation', {
        ...about,
        values: { use: code, index, number: revoked.event.number, revoked_index: revoked.index },
      })
    else if (registered && registered.index < index)
      checks.holds('key_logged_before_use', {
        ...about,
        values: { use: code, index, ...log.boundsOf(index) },
      })
  }
}
