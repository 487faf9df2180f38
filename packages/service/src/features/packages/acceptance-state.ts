import type { PolicyReceipt, TransportMode } from '@agent-exchange/protocol'
import type { Transaction } from '@agent-exchange/database'
import { lockNames } from '../../kernel/named-locks.ts'
import type { ThreadEnd } from '../audit/chain.ts'
import { holdKeys, type KeyName } from '../keys/public-keys.ts'
import type { KeyState } from '../keys/signing-key.ts'
import { readSenderRules, type SenderRule } from '../organizations/consent-store.ts'
import type { AcceptsFrom } from '../organizations/organization-store.ts'
import type { DayUsage } from '../organizations/usage-store.ts'
import { loadPolicyReceipts, type PolicyReceiptRow } from '../policy-receipts/store.ts'
import { organizationsIn } from '../threads/store.ts'
import { loadPackages, type PackageRow } from './store.ts'
import type { Submission } from './submission.ts'

/** Everything that the decisions on a batch depend on, read under lock. */
export interface AcceptanceState {
  readonly agents: ReadonlyMap<string, AgentState>
  readonly keys: ReadonlyMap<string, KeyState>
  readonly policyReceipts: ReadonlyMap<string, KnownReceipt>
  /** Approved connectors by organization. */
  readonly connectors: ReadonlyMap<string, ReadonlySet<string>>
  /** What recipients say about senders (O-50), by `sendingName`. */
  readonly senderRules: ReadonlyMap<string, SenderRule>
  /** These four change with each decision of the batch. */
  readonly threads: Map<string, ThreadState>
  readonly packages: Map<string, PackageRow>
  /** Bytes of content by sending organization (O-13). */
  readonly storedBytes: Map<string, number>
  /** What each sending organization sent on its last day (O-13); exact where a quota applies. */
  readonly sentOfDay: Map<string, DayUsage>
}

/** A policy receipt as stored, and parsed. */
export interface KnownReceipt {
  readonly row: PolicyReceiptRow
  readonly receipt: PolicyReceipt
}

export interface AgentState {
  readonly agent_id: string
  readonly organization_id: string
  readonly organization_status: string
  readonly status: string
  readonly protocol_versions: readonly string[]
  readonly transport_modes: readonly string[]
  readonly has_encryption_key: boolean
  /** Of its organization, as the rest; null if nothing was counted yet. */
  readonly stored_bytes: number | null
  /** Null: the default of the profile (O-50). */
  readonly accepts_from: AcceptsFrom | null
  readonly packages_per_day: number | null
  readonly threads_per_day: number | null
  readonly usage_day: string | null
  readonly packages_of_day: number | null
  readonly threads_of_day: number | null
}

export interface ThreadState {
  readonly transportMode: TransportMode
  readonly participants: ReadonlySet<string>
  /** Pairs that have exchanged packages, as `pairName` writes them. */
  readonly pairs: ReadonlySet<string>
  readonly packageCount: number
  /** Before this batch. */
  readonly end: ThreadEnd
}

/**
 * Locks follow the global order: claims (before this), keys, threads, quotas of a day; counters come last. All statements
 * are sent in this order and awaited once, so that the reads run under the locks.
 */
export async function loadAcceptanceState(
  tx: Transaction,
  submissions: readonly Submission[],
): Promise<AcceptanceState> {
  const keysHeld = holdKeys(tx, submissions.flatMap(namedKeys))
  const threadIds = [...new Set(submissions.map(({ metadata }) => metadata.thread_id))]
  const threadsLocked = lockNames(tx, 'thread', threadIds)
  const agentIds = new Set(
    submissions.flatMap(({ metadata }) => [metadata.sender_agent_id, metadata.recipient_agent_id]),
  )
  const organizations = new Set(
    submissions.flatMap(({ metadata }) => [metadata.sender_org_id, metadata.recipient_org_id]),
  )
  const packageIds = submissions.flatMap(({ metadata, respondsTo }) =>
    respondsTo === undefined ? [metadata.package_id] : [metadata.package_id, respondsTo],
  )
  const [keys, , senderRules, agents, policyReceipts, connectors, threads, packages] = await Promise.all([
    keysHeld,
    threadsLocked,
    loadSenderRules(tx, submissions),
    loadAgents(tx, [...agentIds], submissions[0]?.now ?? ''),
    loadReceipts(
      tx,
      submissions.map(({ metadata }) => metadata.policy_receipt_id),
    ),
    loadConnectors(tx, [...organizations]),
    loadThreads(tx, threadIds),
    loadPackages(tx, packageIds),
  ])
  const storedBytes = new Map(
    [...agents.values()].map(({ organization_id, stored_bytes }) => [organization_id, stored_bytes ?? 0]),
  )
  const sentOfDay = new Map([...agents.values()].map((agent) => [agent.organization_id, dayUsageOf(agent)]))
  return {
    agents,
    keys,
    policyReceipts,
    connectors,
    senderRules,
    threads,
    packages,
    storedBytes,
    sentOfDay,
  }
}

function dayUsageOf({ usage_day, packages_of_day, threads_of_day }: AgentState): DayUsage {
  return { usage_day, packages_of_day: packages_of_day ?? 0, threads_of_day: threads_of_day ?? 0 }
}

/** Responses need neither consent nor quota. Before the agents are read, whose organizations have the counters. */
async function loadSenderRules(tx: Transaction, submissions: readonly Submission[]) {
  const sendings = submissions
    .filter(({ respondsTo }) => respondsTo === undefined)
    .map(({ metadata }) => ({ senderId: metadata.sender_org_id, recipientId: metadata.recipient_org_id }))
  const [first] = submissions
  return first ? readSenderRules(tx, sendings, first.context.profile) : new Map<string, SenderRule>()
}

/** The signing key, and each recipient key id for both parties: their order is free. */
function namedKeys({ metadata, signingKeyId, content }: Submission): KeyName[] {
  const agents = [metadata.sender_agent_id, metadata.recipient_agent_id]
  const sealedTo = content.transport === 'native' ? content.recipientKeyIds : []
  return [
    { agentId: metadata.sender_agent_id, keyId: signingKeyId },
    ...agents.flatMap((agentId) => sealedTo.map((keyId) => ({ agentId, keyId }))),
  ]
}

/**
 * `offset 0` keeps the subquery per agent: otherwise PostgreSQL may read the keys of all agents. Key times are UTC text,
 * compared to the second; the keys that a package names are checked exactly later (ID-05).
 */
async function loadAgents(
  tx: Transaction,
  ids: readonly string[],
  now: string,
): Promise<Map<string, AgentState>> {
  const rows = await tx<AgentState[]>`
    select agent_id, organization_id, organization.status as organization_status, agent.status, protocol_versions,
      transport_modes, exists (
        select from agent_key where agent_key.agent_id = agent.agent_id and use = 'encryption'
          and (agent_key.status in ('active', 'retiring') or invalid_from collate "C" > ${now}) offset 0)
        as has_encryption_key, stored_bytes, accepts_from, packages_per_day, threads_per_day,
      usage_day::text as usage_day, packages_of_day, threads_of_day
    from agent join organization using (organization_id) left join organization_usage using (organization_id)
    where agent_id = any(${[...ids]})`
  return new Map(rows.map((row) => [row.agent_id, row]))
}

async function loadReceipts(tx: Transaction, ids: readonly string[]): Promise<Map<string, KnownReceipt>> {
  const rows = await loadPolicyReceipts(tx, ids)
  return new Map([...rows].map(([id, row]) => [id, { row, receipt: JSON.parse(row.body) as PolicyReceipt }]))
}

async function loadConnectors(
  tx: Transaction,
  organizations: readonly string[],
): Promise<Map<string, Set<string>>> {
  const rows = await tx<{ organization_id: string; connector_id: string }[]>`
    select organization_id, connector_id from connector_connection
    where organization_id = any(${[...organizations]}) and status = 'approved'`
  const connectors = new Map<string, Set<string>>()
  for (const { organization_id, connector_id } of rows) {
    const known = connectors.get(organization_id) ?? new Set()
    connectors.set(organization_id, known.add(connector_id))
  }
  return connectors
}

async function loadThreads(tx: Transaction, ids: readonly string[]): Promise<Map<string, ThreadState>> {
  const rows = await tx<
    {
      thread_id: string
      transport_mode: TransportMode
      package_count: number
      audit_count: number
      audit_hash: string | null
      audit_recorded_at: string
      pairs: string[]
    }[]
  >`
    select thread_id, transport_mode, package_count, audit_count, audit_hash, audit_recorded_at, pairs
    from thread where thread_id = any(${[...ids]})`
  return new Map(
    rows.map((row) => [
      row.thread_id,
      {
        transportMode: row.transport_mode,
        participants: new Set(organizationsIn(row.pairs)),
        pairs: new Set(row.pairs),
        packageCount: row.package_count,
        end: { count: row.audit_count, hash: row.audit_hash, recordedAt: row.audit_recorded_at },
      },
    ]),
  )
}
