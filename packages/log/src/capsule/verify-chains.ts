import { DEFAULT_PROFILE } from '@agent-exchange/protocol'
import type { LogPolicy } from '../notes/policy.ts'
import type { CapsuleV3 } from './capsule-v3-format.ts'
import { Checks, VerdictReached, type Check } from '../verdict/check.ts'
import { followChain, verifyMetadataDigest } from './follow-chain.ts'
import { openLog, type OpenedLog } from './open-log.ts'
import { verifyChainRecords, type EntryLeaves } from './verify-chain-records.ts'
import { verifyShownHead } from './verify-shown-head.ts'
import { bindKeys, verifyEventLeaves, type BoundKey, type LoggedEvent } from './verify-shown-keys.ts'

/** What the structure of a capsule proves. */
export interface VerifiedChains {
  /** Undefined where the checkpoint of the log does not hold. */
  readonly log: OpenedLog | undefined
  readonly checks: readonly Check[]
  /** By package id, the leaf of each entry. */
  readonly leaves: ReadonlyMap<string, EntryLeaves>
  readonly keyEvents: readonly LoggedEvent[]
  readonly keys: readonly BoundKey[]
}

interface VerifyChainsOptions {
  /** The agent under which the platform's keys are; defaults to that of the default profile (O-42). */
  readonly platformAgentId?: string
  /** Whom the verifier trusts. */
  readonly policy?: LogPolicy
}

/**
 * Verifies everything in a capsule of format 3 that follows from hashes, leaves and the signed heads: chains without a
 * hole, records, key events, bound keys and metadata. The capsule has to conform to its schema. Signatures of parties and
 * times come on top.
 */
export async function verifyChains(
  capsule: CapsuleV3,
  { platformAgentId = DEFAULT_PROFILE['O-42'].agent_id, policy }: VerifyChainsOptions = {},
): Promise<VerifiedChains> {
  const found: Found = { checks: new Checks(), leaves: new Map(), keyEvents: [], keys: [] }
  let log: OpenedLog | undefined
  try {
    log = await openLog(capsule.log, policy, found.checks)
    if (log) await verifyInOrder(capsule, { log, platformAgentId }, found)
  } catch (error) {
    if (!(error instanceof VerdictReached)) throw error
  }
  return { ...found, log, checks: found.checks.all }
}

interface Found {
  readonly checks: Checks
  readonly leaves: Map<string, EntryLeaves>
  readonly keyEvents: LoggedEvent[]
  readonly keys: BoundKey[]
}

async function verifyInOrder(
  capsule: CapsuleV3,
  { log: { tree, story }, platformAgentId }: { readonly log: OpenedLog; readonly platformAgentId: string },
  { checks, leaves, keyEvents, keys }: Found,
): Promise<void> {
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
    await verifyShownHead(shown, { links, leaves: own, origin: story.origin, key: key?.publicKey }, checks)
    // A package whose leaves are not shown yet comes after all others.
    const first = own.get(1) ?? tree.size
    checks.check('package_order', first >= before, { package_id })
    before = first
  }
}
