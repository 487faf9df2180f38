import { firstOf, type EvidenceReport, type Signer } from '../evidence/evidence-report.ts'
import type { CapsuleFindings } from './capsule-result.ts'
import type { OpenedLog } from './open-log.ts'
import { eventsByKey, keyName, type LoggedKeyEvent } from './verify-key-leaves.ts'
import type { EntryIndexes } from './verify-record-leaves.ts'

interface Placed {
  readonly indexes: EntryIndexes
  readonly logged: readonly LoggedKeyEvent[]
  readonly log: OpenedLog
}

/** "Valid at its time" is an order of indexes: the key was logged before what it signed, and its revocation after. */
export function verifyKeyOrder(
  { checks }: EvidenceReport,
  { indexes, logged, log }: Placed,
  findings: CapsuleFindings,
): void {
  const byKey = eventsByKey(logged)
  const doubtful = new Map<string, LateUse>()
  for (const { ok, signedBy, acceptedKey, position, what, packageId } of checks) {
    const signer = signedBy ?? acceptedKey
    const index = position === undefined ? undefined : indexes.get(position)
    if (!ok || !signer || index === undefined || position === undefined) continue
    const { agentId, keyId } = signer
    const name = keyName(agentId, keyId)
    const own = byKey.get(name) ?? []
    const about = { position, ...(packageId !== undefined && { packageId }) }
    const registered = own.find(({ event }) => event.kind === 'registered')
    if (registered && registered.index > index)
      findings.fail(
        'key_logged_after_use',
        `Key ${keyId} of ${agentId} entered the log after entry ${position}, which it signed: it was backdated.`,
        about,
      )
    const revoked = own.find((each) => each.event.kind === 'revoked' && each.index < index)
    if (revoked) {
      const late = doubtful.get(name) ?? { signer, revoked, positions: new Set() }
      doubtful.set(name, late)
      late.positions.add(position)
      continue
    }
    if (registered && registered.index < index)
      findings.hold(
        `Key ${keyId} of ${agentId} was logged before entry ${position}, and not revoked`,
        what,
        about,
      )
    if (signedBy)
      findings.prove({ what: sentence(what), ...about, index, agentId, keyId, ...log.boundsOf(index) })
  }
  for (const late of doubtful.values()) leaveLateUse(late, findings)
}

interface LateUse {
  readonly signer: Signer
  readonly revoked: LoggedKeyEvent
  readonly positions: Set<number>
}

/**
 * The clock of the exchange does not override the order of the log. It is no contradiction: records from before the log
 * follow all key events, and a policy receipt enters the log with its package.
 */
function leaveLateUse(
  { signer: { agentId, keyId }, revoked: { event, index }, positions }: LateUse,
  findings: CapsuleFindings,
): void {
  const entries = [...positions]
  findings.leaveToExchange(
    `whether key ${keyId} of ${agentId} was used for ${entries.length === 1 ? 'entry' : 'entries'} ${firstOf(entries)} before it was revoked`,
    `The log holds its revocation (key event ${event.number}, leaf ${index}) before them. Only the exchange says that they came first.`,
  )
}

function sentence(what: string): string {
  return `${what.charAt(0).toUpperCase()}${what.slice(1)}`
}
