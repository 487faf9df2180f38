import type { LoggedRecord, PackageMetadata } from '@agent-exchange/protocol'
import {
  CAPSULE_V3_FORMAT,
  formatVerifierKey,
  type Capsule,
  type CapsulePackage,
  type CapsuleRecord,
  type CapsuleV3,
  type Disclosure,
  type EvidenceBundle,
  type ReadTile,
} from '@agent-exchange/log'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import { isPartyOf } from './package-parties.ts'
import type { EvidenceSubject } from './package-evidence.ts'
import { checkLog, type AcceptedCheckpoint } from '../log/accept-checkpoint.ts'
import { collectChains, packageIdsOf, type CollectedChains } from './collect-chains.ts'
import { hasLog, readEarlierCapsule } from './read-earlier-capsule.ts'
import { fetchRecords, tileReader } from '../log/log-answers.ts'
import {
  isIncluded,
  keyEventProofs,
  keyEventsOf,
  pendingOf,
  proofOf,
  type PendingLeaf,
} from './logged-leaves.ts'
import { readHistory } from './read-history.ts'
import { waitForLog, type Logged, type WaitForLog } from './wait-for-log.ts'

export interface CollectedCapsule {
  /** In format 3; as `readEarlierCapsule` collects it where all packages are from before version 2. */
  readonly capsule: CapsuleV3 | Capsule | EvidenceBundle
  readonly pending: readonly PendingLeaf[]
  /** False where the exchange publishes no log. */
  readonly hasLog: boolean
  /** Packages from before version 2 that are not in this capsule: `readEarlierCapsule` collects them. */
  readonly earlierPackages: number
}

export interface ReadCapsuleOptions extends WaitForLog {
  /** By package, content that the capsule shows to whoever reads it. */
  readonly disclosures?: ReadonlyMap<string, Disclosure>
  /**
   * Whose packages are collected: all that the exchange shows to the organization (the default), or only those that this
   * agent sent or received. A subject without any of these fails with `package_not_for_us`.
   */
  readonly of?: 'organization' | 'agent'
}

/**
 * AUD-01: collects evidence with the proof that every record and key event is in the log. Waits for the log up to a
 * limit; what it does not include by then is named as a promise.
 *
 * @example
 * const { capsule, pending } = await readCapsule(context, { threadId: 'thread_1' })
 */
export async function readCapsule(
  context: AgentContext,
  subject: EvidenceSubject,
  { disclosures = new Map(), of = 'organization', ...wait }: ReadCapsuleOptions = {},
): Promise<CollectedCapsule> {
  const isShown = (metadata: PackageMetadata) =>
    of === 'organization' || isPartyOf(context.identity, metadata)
  const chains = (await hasLog(context))
    ? await collectChains(context, subject, { disclosures, isShown })
    : undefined
  requireShown(chains, disclosures)
  if (chains) return chainCapsule(context, chains, wait)
  if (of === 'agent') await requireOwnPackages(context, subject)
  return { ...(await readEarlierCapsule(context, subject, wait)), earlierPackages: 0 }
}

/** Earlier formats have one chain for the whole subject, of which no package can be left out. */
async function requireOwnPackages(context: AgentContext, subject: EvidenceSubject): Promise<void> {
  for (const packageId of await packageIdsOf(context, subject)) {
    const path = { package_id: packageId }
    const { metadata } = await context.connection.call('getPackage', { path })
    if (!isPartyOf(context.identity, metadata)) throw new ExchangeError('package_not_for_us')
  }
}

/** What was to be disclosed must not be left out silently. */
function requireShown(
  chains: CollectedChains | undefined,
  disclosures: ReadonlyMap<string, Disclosure>,
): void {
  const shown = new Set(chains?.packages.map(({ metadata }) => metadata.package_id))
  for (const id of disclosures.keys())
    if (!shown.has(id))
      throw new ExchangeError('input_invalid', {
        what: `${id} cannot be disclosed: it is not among the packages of this evidence that are in format 3.`,
      })
}

async function chainCapsule(
  context: AgentContext,
  chains: CollectedChains,
  wait: WaitForLog,
): Promise<CollectedCapsule> {
  // Without its key events no key of a capsule is bound, and nothing that it signed would hold.
  const logged = await waitForLog(() => readLogged(context, chains), wait, 'key_events')
  const { checkpoint, pending } = logged
  if (!checkpoint || pending.some(({ what }) => what === 'key_event'))
    throw new ExchangeError('timed_out', {
      what: 'The log does not hold the keys of this evidence yet. Try again in a minute.',
    })
  const capsule = await capsuleOf(context, chains, { ...logged, checkpoint })
  return { capsule, pending, hasLog: true, earlierPackages: chains.earlier }
}

async function readLogged(context: AgentContext, { packages, keys }: CollectedChains): Promise<Logged> {
  const records: LoggedRecord[] = []
  for (const { metadata, entries } of packages) {
    const own = await fetchRecords(context, { package_id: metadata.package_id })
    records.push(...own.filter(({ chain }) => chain !== undefined && chain.last_position <= entries.length))
  }
  const events = await keyEventsOf(context, new Set(keys.map(({ agent_id }) => agent_id)))
  // The newest checkpoint last: it then covers every index above.
  const checkpoint = await checkLog(context)
  return { records, events, checkpoint, pending: pendingOf(records, events, checkpoint?.size ?? 0) }
}

async function capsuleOf(
  context: AgentContext,
  { threadId, packages, keys }: CollectedChains,
  { records, events, checkpoint }: Logged & { readonly checkpoint: AcceptedCheckpoint },
): Promise<CapsuleV3> {
  const readTile = tileReader(context, checkpoint.size)
  const [signature] = checkpoint.signatures
  if (!signature) throw new ExchangeError('log_unverifiable', { what: 'No known key signed the checkpoint.' })
  const { key } = signature
  const logged: { readonly firstIndex: number; readonly shown: CapsulePackage }[] = []
  for (const each of packages) {
    const own = records.filter(({ package_id }) => package_id === each.metadata.package_id)
    const firstIndex = own[0]?.index ?? checkpoint.size
    const shown = { ...each, records: await recordProofs(own, checkpoint, readTile) }
    logged.push({ firstIndex, shown })
  }
  const indexes = [...records, ...events].flatMap(({ index }) =>
    index === undefined || index >= checkpoint.size ? [] : [index],
  )
  const history = await readHistory(context, indexes, { checkpoint, key, readTile })
  return {
    format: CAPSULE_V3_FORMAT,
    thread_id: threadId,
    packages: logged.toSorted((a, b) => a.firstIndex - b.firstIndex).map(({ shown }) => shown),
    keys,
    log: {
      key: formatVerifierKey(key),
      checkpoint: checkpoint.note,
      key_events: await keyEventProofs(events, checkpoint, readTile),
      ...(history.length > 0 && { history }),
    },
  }
}

async function recordProofs(
  records: readonly LoggedRecord[],
  checkpoint: AcceptedCheckpoint,
  readTile: ReadTile,
): Promise<CapsuleRecord[]> {
  const proofs: CapsuleRecord[] = []
  for (const each of records)
    if (isIncluded(each, checkpoint.size) && each.chain) {
      const { first_position, last_position } = each.chain
      const proof = await proofOf(each, checkpoint, readTile)
      proofs.push({ first_position, last_position, salt: each.salt, proof })
    }
  return proofs
}
