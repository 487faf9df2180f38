import type { EvidenceEntry } from '@agent-exchange/protocol'
import type { PackageRecord } from '../audit/package-records.ts'
import type { PackageFacts } from '../packages/package-facts.ts'
import { EXCHANGE, factsOf, type Facts, type Step, type StepOutcome } from './step.ts'

/** Members of a proof by kind; only those below are shown, because a proof may quote what agents wrote. */
interface Proof {
  readonly kind: string
  readonly hash?: string
  readonly recorded_at: string
  readonly accepted_at?: string
  readonly policy_receipt_id?: string
  readonly receipt_id?: string
  readonly reason_code?: string
  readonly response_package_id?: string
  readonly organization_id?: string
  readonly client_id?: string
  readonly actor_agent_id?: string
  readonly state?: string
  readonly states?: readonly string[]
  readonly signing_key_id?: string
  readonly signature?: { readonly key_id?: string }
  readonly actor?: string
  readonly reason?: string
  readonly delivery_id?: string
  readonly replay_of?: string
}

const proofOf = ({ proof }: EvidenceEntry) => proof as unknown as Proof

/** The time of the request; the chain records the time of the previous entry if that is later (O-43). */
export function timeOfEntry(entry: EvidenceEntry): string {
  const { accepted_at, recorded_at } = proofOf(entry)
  return entry.event?.occurred_at ?? accepted_at ?? recorded_at
}

/** A key that signed the package or a statement about it. */
export interface KeyUse {
  readonly agentId: string
  readonly keyId: string
}

export function keysOf({ packageId, entries }: PackageRecord, packages: Packages): KeyUse[] {
  const sender = packages.get(packageId)?.sender_agent_id
  return entries.flatMap((entry) => {
    const { signature, signing_key_id, actor_agent_id } = proofOf(entry)
    const agentId = actor_agent_id ?? entry.event?.actor.agent_id ?? sender
    const keyId = signing_key_id ?? signature?.key_id
    return agentId === undefined || keyId === undefined ? [] : [{ agentId, keyId }]
  })
}

export type Packages = ReadonlyMap<string, PackageFacts>

/** One step for the entries that one request added about a package. */
export function evidenceSteps(record: PackageRecord, packages: Packages, publishedSize: number): Step[] {
  const groups = new Map<string, EvidenceEntry[]>()
  for (const entry of record.entries) {
    const at = timeOfEntry(entry)
    groups.set(at, [...(groups.get(at) ?? []), entry])
  }
  return [...groups].map(([at, entries]) => toStep(at, entries, record, packages, publishedSize))
}

function toStep(
  at: string,
  entries: readonly EvidenceEntry[],
  { packageId, logIndex }: PackageRecord,
  packages: Packages,
  publishedSize: number,
): Step {
  const kinds = [...new Set(entries.map((entry) => proofOf(entry).kind))]
  const isLogged = logIndex !== null && logIndex < publishedSize
  return {
    at,
    kind: 'evidence',
    what: kinds.map(titleOf).join(', '),
    outcome: kinds.some((kind) => OUTCOMES[kind] === 'bad') ? 'bad' : (OUTCOMES[kinds[0] ?? ''] ?? 'neutral'),
    ...partiesOf(entries, packages.get(packageId)),
    package_id: packageId,
    facts: factsOf({
      ...Object.assign({}, ...entries.map(shownOf)),
      ...(isLogged ? { log_index: logIndex } : { log: 'pending' }),
      entries: entries.map((entry) => ({
        position: entry.position,
        hash: entry.chain?.hash ?? proofOf(entry).hash,
      })),
    }),
  }
}

const TITLES: Readonly<Record<string, string>> = {
  policy_receipt_accepted: 'Policy receipt accepted',
  approval_recorded: 'approval by a person recorded',
  package_accepted: 'Package accepted',
  content_fetched: 'Content fetched',
  receipt_received: 'Receipt: received',
  receipt_opened: 'Receipt: opened',
  receipt_rejected: 'Receipt: rejected',
  receipt_failed: 'Receipt: failed',
  response_accepted: 'Response accepted',
  package_revoked: 'Package revoked',
  delivery_replayed: 'Delivery replayed by an operator',
}
const OUTCOMES: Readonly<Record<string, StepOutcome>> = {
  package_accepted: 'good',
  content_fetched: 'good',
  receipt_received: 'good',
  receipt_opened: 'good',
  response_accepted: 'good',
  receipt_rejected: 'bad',
  receipt_failed: 'bad',
  package_revoked: 'bad',
}

function titleOf(kind: string): string {
  return TITLES[kind] ?? kind.replaceAll('_', ' ')
}

function partiesOf(entries: readonly EvidenceEntry[], row: PackageFacts | undefined) {
  const [first] = entries
  const proof = first && proofOf(first)
  if (proof?.kind === 'delivery_replayed') return { from: EXCHANGE }
  const actor =
    first?.event?.actor.organization_id ??
    proof?.organization_id ??
    (proof?.kind.startsWith('receipt_') ? row?.recipient_org_id : row?.sender_org_id)
  if (actor === undefined) return { from: EXCHANGE }
  return proof?.kind === 'content_fetched' ? { from: EXCHANGE, to: actor } : { from: actor, to: EXCHANGE }
}

function shownOf(entry: EvidenceEntry): Facts {
  const { event } = entry
  const proof = proofOf(entry)
  return factsOf({
    agent_id: proof.actor_agent_id ?? event?.actor.agent_id,
    client_id: proof.client_id,
    decision: event?.decision,
    policy_id: event?.policy_id,
    policy_receipt_id: proof.policy_receipt_id,
    receipt_id: proof.receipt_id,
    response_package_id: proof.response_package_id,
    reason_code: proof.reason_code,
    state: proof.state ?? proof.states?.at(-1),
    key_id: proof.signing_key_id ?? proof.signature?.key_id,
    operator: proof.actor,
    // Free text of an operator; statements of agents have a `reason_detail` instead.
    reason: proof.kind === 'delivery_replayed' ? proof.reason : undefined,
    delivery_id: proof.delivery_id,
    replay_of: proof.replay_of,
    correlation_id: event?.trace?.correlation_id,
  })
}
