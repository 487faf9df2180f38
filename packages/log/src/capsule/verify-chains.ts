import { DEFAULT_PROFILE } from '@agent-exchange/protocol'
import { LogError } from '../errors.ts'
import { verifyConsistency } from '../merkle/consistency.ts'
import { openCheckpoint } from '../notes/checkpoint.ts'
import { readHashes } from '../notes/tlog-proof.ts'
import { parseVerifierKey, type VerifierKey } from '../notes/verifier-key.ts'
import type { CapsuleV3 } from './capsule-v3-format.ts'
import { Checks, VerdictReached, type Check } from '../verdict/check.ts'
import { followChain, verifyMetadataDigest } from './follow-chain.ts'
import type { VerifiedTree } from './place-leaf.ts'
import { verifyChainRecords, type EntryLeaves } from './verify-chain-records.ts'
import { verifyShownHead } from './verify-shown-head.ts'
import { bindKeys, verifyEventLeaves, type BoundKey, type LoggedEvent } from './verify-shown-keys.ts'

/** The parts of a capsule that its own structure proves. Nothing here says whom to trust. */
export interface VerifiedChains {
  readonly checks: readonly Check[]
  /** By package id, the leaf of each entry. */
  readonly leaves: ReadonlyMap<string, EntryLeaves>
  readonly keyEvents: readonly LoggedEvent[]
  readonly keys: readonly BoundKey[]
}

interface VerifyChainsOptions {
  /** The agent under which the platform's keys are; defaults to that of the default profile (O-42). */
  readonly platformAgentId?: string
}

/**
 * Verifies everything in a capsule of format 3 that follows from hashes, leaves and the signed heads: chains without a
 * hole, records, key events, bound keys and metadata. The capsule has to conform to its schema. Signatures of parties,
 * times and the policy of a verifier come on top.
 */
export async function verifyChains(
  capsule: CapsuleV3,
  { platformAgentId = DEFAULT_PROFILE['O-42'].agent_id }: VerifyChainsOptions = {},
): Promise<VerifiedChains> {
  const found: Found = { checks: new Checks(), leaves: new Map(), keyEvents: [], keys: [] }
  try {
    await verifyInOrder(capsule, platformAgentId, found)
  } catch (error) {
    if (!(error instanceof VerdictReached)) throw error
  }
  return { ...found, checks: found.checks.all }
}

interface Found {
  readonly checks: Checks
  readonly leaves: Map<string, EntryLeaves>
  readonly keyEvents: LoggedEvent[]
  readonly keys: BoundKey[]
}

async function verifyInOrder(
  capsule: CapsuleV3,
  platformAgentId: string,
  { checks, leaves, keyEvents, keys }: Found,
): Promise<void> {
  const opened = await openTree(capsule, checks)
  if (!opened) return
  const { tree, origin } = opened
  keyEvents.push(...verifyEventLeaves(capsule.log.key_events, tree, checks))
  keys.push(...(await bindKeys(capsule.keys, keyEvents, checks)))
  let before = -1
  for (const shown of capsule.packages) {
    const { package_id, thread_id } = shown.metadata
    const isOwn = thread_id === capsule.thread_id && !leaves.has(package_id)
    if (!checks.check('package_thread', isOwn, { package_id })) continue
    leaves.set(package_id, new Map())
    const links = followChain(shown, checks)
    await verifyMetadataDigest(shown, checks)
    if (!links) continue
    const own = verifyChainRecords(shown, links, tree, checks)
    leaves.set(package_id, own)
    const key = keys.find(
      (each) => each.key.agent_id === platformAgentId && each.key.key_id === shown.head?.signature.key_id,
    )
    await verifyShownHead(shown, { links, leaves: own, origin, key: key?.publicKey }, checks)
    // A package whose leaves are not shown yet comes after all others.
    const first = own.get(1) ?? tree.size
    checks.check('package_order', first >= before, { package_id })
    before = first
  }
}

async function openTree(
  { log }: CapsuleV3,
  checks: Checks,
): Promise<{ tree: VerifiedTree; origin: string } | undefined> {
  try {
    const key = parseVerifierKey(log.key)
    const { origin, size, root } = await openCheckpoint(log.checkpoint, [key])
    checks.holds('log_checkpoint', { values: { origin, size } })
    const tree = { note: log.checkpoint, size, root }
    for (const earlier of log.history ?? []) await verifyEarlier(earlier, { tree, origin, key }, checks)
    return { tree, origin }
  } catch (error) {
    if (!(error instanceof LogError)) throw error
    checks.fails('log_checkpoint', { values: { fault: error.code } })
    return undefined
  }
}

async function verifyEarlier(
  { checkpoint, consistency }: NonNullable<CapsuleV3['log']['history']>[number],
  { tree, origin, key }: { tree: VerifiedTree; origin: string; key: VerifierKey },
  checks: Checks,
): Promise<void> {
  try {
    const earlier = await openCheckpoint(checkpoint, [key])
    const proof = readHashes(consistency)
    if (proof === undefined) throw new LogError('hash_invalid')
    const sizes = { oldSize: earlier.size, newSize: tree.size }
    verifyConsistency({ ...sizes, oldRoot: earlier.root, newRoot: tree.root, proof })
    checks.check('log_history', earlier.origin === origin, { values: { size: earlier.size } })
  } catch (error) {
    if (!(error instanceof LogError)) throw error
    checks.fails('log_history', { values: { fault: error.code } })
  }
}
