import { canonicalBytes, encodeBase64url } from '@agent-exchange/crypto'
import {
  chainLinks,
  chainRecordLeaf,
  deriveSalt,
  formatProof,
  formatVerifierKey,
  identityOf,
  isHidden,
  leafOfShownEvent,
  parseProof,
  proveInclusion,
  type CapsulePackage,
  type CapsuleV3,
  type KeyEventProof,
  type PackageHead,
  type RecordProof,
} from '@agent-exchange/log'
import { logSigner, signedLogOf, type LogPlan } from './capsule-of.ts'
import { signAsPlatform } from './sign-as-platform.ts'
import type { World } from './test-world.ts'

const SECRET = new Uint8Array(32).fill(43)
const SECONDS_AFTER = 60

export interface ChainLogPlan extends LogPlan {
  /** The exchange that recorded the packages: it signs the heads again. Without it they are left out. */
  readonly platform?: World
  /** What a head says instead; undefined leaves it out. */
  readonly head?: (head: Omit<PackageHead, 'signature'>, index: number) => typeof head | undefined
}

/** A leaf of what a capsule shows, before it is logged. */
export interface ShownLeaf {
  readonly kind: string
  /** Its index in the log that the capsule was collected from. */
  readonly index: number
  readonly leaf: (salt: Uint8Array) => Uint8Array
  /** One of the two is there. */
  readonly record?: Omit<RecordProof, 'salt' | 'proof'>
  readonly event?: Omit<KeyEventProof, 'salt' | 'proof'>
}

/**
 * The capsule of an operator who holds the keys of log and platform: everything that is shown is logged again, in its
 * order, in a log with published keys. Entries and key events may have been changed before.
 */
export async function chainCapsuleOf(shown: CapsuleV3, plan: ChainLogPlan = {}): Promise<CapsuleV3> {
  const planned = shownLeaves(shown)
  const order = plan.order?.(planned.map(({ kind }) => kind)) ?? planned.map((_, index) => index)
  const salts = planned.map((_, offset) => deriveSalt(SECRET, offset))
  // Leaves of others lie between ours.
  const leaves = order.flatMap((at) => [
    planned[at]?.leaf(salts[at] as Uint8Array) ?? new Uint8Array(),
    canonicalBytes({ other: at }),
  ])
  const log = await signedLogOf(leaves, { cosignedAt: secondsAfter(shown), ...plan })
  const records: RecordProof[] = []
  const events: KeyEventProof[] = []
  for (const [at, { record, event }] of planned.entries()) {
    const index = 2 * order.indexOf(at)
    const hashes = await proveInclusion(index, leaves.length, log.readTile)
    const proof = formatProof({ index, hashes, checkpoint: log.checkpoint })
    const parts = { salt: encodeBase64url(salts[at] as Uint8Array), proof }
    if (record) records.push({ ...record, ...parts })
    if (event) events.push({ ...event, ...parts })
  }
  const packages = shown.packages.map(async (each, at): Promise<CapsulePackage> => {
    const { head: stated, ...rest } = each
    const head = stated && (await headOf(each, stated, { index: at, size: leaves.length, plan }))
    const own = records
      .filter(({ package_id }) => package_id === each.metadata.package_id)
      .map(({ first_position, last_position, salt, proof }) => ({
        first_position,
        last_position,
        salt,
        proof,
      }))
    return { ...rest, records: own, ...(head && { head }) }
  })
  return {
    ...shown,
    packages: await Promise.all(packages),
    log: {
      key: formatVerifierKey((plan.signer ?? logSigner).key),
      checkpoint: log.checkpoint,
      key_events: events,
      ...(log.history.length > 0 && { history: log.history }),
    },
  }
}

/** Everything that a capsule shows of the log, in its order there. */
export function shownLeaves({ packages, log }: CapsuleV3): ShownLeaf[] {
  return [...packages.flatMap(recordLeaves), ...log.key_events.map(eventLeaf)].toSorted(
    (a, b) => a.index - b.index,
  )
}

function recordLeaves(shown: CapsulePackage): ShownLeaf[] {
  const { links = [] } = chainLinks(shown)
  return shown.records.map(({ first_position, last_position, proof }): ShownLeaf => {
    const [linkBefore, lastLink] = [links[first_position - 1], links[last_position]]
    if (!linkBefore || !lastLink) throw new Error('a record covers entries that are not shown')
    const positions = { firstPosition: first_position, lastPosition: last_position }
    return {
      kind: 'record',
      index: parseProof(proof).index,
      leaf: (salt) => chainRecordLeaf({ ...identityOf(shown), ...positions, linkBefore, lastLink }, salt),
      record: { package_id: shown.metadata.package_id, first_position, last_position },
    }
  })
}

function eventLeaf(shown: KeyEventProof): ShownLeaf {
  const { proof, salt: _, ...event } = shown
  return {
    kind: event.kind,
    index: parseProof(proof).index,
    leaf: (salt) => leafOfShownEvent({ ...event, salt: encodeBase64url(salt) }),
    event,
  }
}

async function headOf(
  shown: CapsulePackage,
  { signature, ...stated }: PackageHead,
  { index, size, plan }: { readonly index: number; readonly size: number; readonly plan: ChainLogPlan },
): Promise<PackageHead | undefined> {
  const { platform, head: change = (head) => head, signer = logSigner } = plan
  if (!platform) return undefined
  const { links = [] } = chainLinks(shown)
  const position = shown.entries.length
  const link = Buffer.from(links[position] ?? []).toString('hex')
  const head = change({ ...stated, position, link, log: { origin: signer.key.name, size } }, index)
  return head && { ...head, signature: { ...signature, ...(await signAsPlatform(platform, head)) } }
}

/** A minute after the last entry, in seconds since 1970. */
function secondsAfter({ packages }: CapsuleV3): number {
  const times = packages.flatMap(({ entries }) =>
    entries.flatMap((entry) => (isHidden(entry) ? [] : [Date.parse(entry.proof.recorded_at)])),
  )
  return Math.ceil(Math.max(...times) / 1_000) + SECONDS_AFTER
}
