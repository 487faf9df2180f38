import { isEarlier } from '@agent-exchange/protocol'
import type { EvidenceReport } from '../evidence/evidence-report.ts'
import type { Capsule } from './capsule-format.ts'
import type { CapsuleFindings } from './capsule-result.ts'
import type { OpenedLog } from './open-log.ts'
import type { LoggedKeyEvent } from './verify-key-leaves.ts'
import type { EntryIndexes } from './verify-record-leaves.ts'

/** "Valid at its time" is an order of indexes: the key was logged before what it signed, and its revocation after. */
export function verifyKeyOrder(
  capsule: Capsule,
  { checks }: EvidenceReport,
  { indexes, logged, log }: { indexes: EntryIndexes; logged: readonly LoggedKeyEvent[]; log: OpenedLog },
  findings: CapsuleFindings,
): void {
  const firsts = new Map(
    capsule.packages.map(({ metadata, positions }) => [metadata.package_id, Math.min(...positions)]),
  )
  const byKey = Map.groupBy(logged, ({ event }) => nameOf(event.agent_id, event.key_id))
  const entries = new Map(capsule.entries.map((entry) => [entry.position, entry]))
  for (const check of checks.filter(({ ok }) => ok)) {
    const { signedBy, what, packageId } = check
    const position = check.position ?? firsts.get(packageId ?? '')
    const index = position === undefined ? undefined : indexes.get(position)
    if (!signedBy || index === undefined || position === undefined) continue
    const { agentId, keyId } = signedBy
    const own = byKey.get(nameOf(agentId, keyId)) ?? []
    const registered = own.find(({ event }) => event.kind === 'registered')
    const about = { position, ...(packageId !== undefined && { packageId }) }
    if (registered && registered.index > index)
      findings.contradict(
        'key_logged_after_use',
        `Key ${keyId} of ${agentId} entered the log after entry ${position}, which it signed: it was backdated.`,
        about,
      )
    if (isRevokedBefore(entries.get(check.position ?? 0), own, index))
      findings.contradict(
        'key_revoked_before_use',
        `The log holds a revocation of key ${keyId} of ${agentId} before entry ${position}, which it signed.`,
        about,
      )
    findings.prove({ what: sentence(what), ...about, index, agentId, keyId, ...log.boundsOf(index) })
  }
}

/**
 * Only statements that arrived with their entry can be judged by the order of leaves. A policy receipt is accepted
 * earlier and joins the log with its package; the times of the evidence judge it.
 */
function isRevokedBefore(
  entry: Capsule['entries'][number] | undefined,
  own: readonly LoggedKeyEvent[],
  index: number,
): boolean {
  if (!entry) return false
  const accepted: unknown = Reflect.get(entry.proof, 'accepted_at')
  const arrivedAt = typeof accepted === 'string' ? accepted : entry.proof.recorded_at
  return own.some(
    ({ event, index: revokedAt }) =>
      event.kind === 'revoked' &&
      revokedAt < index &&
      isEarlier(arrivedAt, event.invalid_from ?? event.recorded_at) !== true,
  )
}

function nameOf(agentId: string, keyId: string): string {
  return JSON.stringify([agentId, keyId])
}

function sentence(what: string): string {
  return `${what.charAt(0).toUpperCase()}${what.slice(1)}`
}
