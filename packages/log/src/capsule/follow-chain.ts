import { canonicalBytes, sha256Digest, unlessRefused } from '@agent-exchange/crypto'
import { fromHex } from '../bytes.ts'
import { LogError } from '../errors.ts'
import { ONE_SIDED_KINDS } from '../leaf/one-sided-kinds.ts'
import { bodyHash, chainStart, entryBody, nextLink } from '../leaf/package-chain.ts'
import type { PackageIdentity } from '../leaf/package-identity.ts'
import { isHidden, type CapsulePackage, type HiddenEntry, type ShownEntry } from './capsule-v3-format.ts'
import { Checks, VerdictReached, type Check } from '../verdict/check.ts'

/** What a chain is computed from. */
export type ShownChain = Pick<CapsulePackage, 'metadata' | 'policy_receipt' | 'entries'>

export function identityOf({ metadata, policy_receipt: receipt }: ShownChain): PackageIdentity {
  return {
    packageId: metadata.package_id,
    contentDigest: metadata.content_digest,
    receiptSignature: receipt.signature.signature,
  }
}

/**
 * The links of a package's chain: link n is at index n, and link 0 is its start. Undefined where the entries are no
 * chain: positions 1 to n without a hole, each with its body or with a placeholder that is allowed.
 */
export function followChain(shown: ShownChain, checks: Checks): readonly Uint8Array[] | undefined {
  const { package_id, thread_id: threadId } = shown.metadata
  const misplaced = shown.entries.findIndex(({ position }, index) => position !== index + 1)
  const isComplete = misplaced === -1 && shown.entries.length > 0
  if (!checks.check('chain_positions', isComplete, { package_id, position: misplaced + 1 })) return undefined
  const links = [chainStart({ ...identityOf(shown), threadId })]
  for (const entry of shown.entries) {
    const { position, visibility } = entry
    const kind = kindOf(entry)
    const hash = bodyHashOf(entry)
    const about = { package_id, position, values: { kind } }
    const isAllowed = visibility === 'both' || ONE_SIDED_KINDS.has(kind)
    if (!isAllowed) checks.fails('chain_visibility', about)
    const link = hash && linkOf(links[position - 1], { position, kind, visibility, bodyHash: hash })
    if (!link) {
      checks.fails('chain_body', about)
      return undefined
    }
    links.push(link)
  }
  return links
}

function untilDecided<T>(verify: () => T): T | undefined {
  try {
    return verify()
  } catch (error) {
    if (error instanceof VerdictReached) return undefined
    throw error
  }
}

/** The same for one package alone, with the checks that fail. */
export function chainLinks(shown: ShownChain): {
  readonly links: readonly Uint8Array[] | undefined
  readonly faults: readonly Check[]
} {
  const checks = new Checks()
  const links = untilDecided(() => followChain(shown, checks))
  return { links, faults: checks.all.filter(({ result }) => result === 'fails') }
}

function kindOf(entry: ShownEntry | HiddenEntry): string {
  return isHidden(entry) ? entry.kind : entry.proof.kind
}

/** Text that is no Unicode has no hash. */
function bodyHashOf(entry: ShownEntry | HiddenEntry): Uint8Array | undefined {
  if (isHidden(entry)) return fromHex(entry.body_hash)
  return unlessRefused(() => bodyHash(entryBody({ event: entry.event, proof: entry.proof })))
}

function linkOf(
  previous: Uint8Array | undefined,
  entry: Parameters<typeof nextLink>[1],
): Uint8Array | undefined {
  try {
    return previous && nextLink(previous, entry)
  } catch (error) {
    if (error instanceof LogError) return undefined
    throw error
  }
}

/** The acceptance is part of the chain, and carries the digest of the metadata. */
export async function verifyMetadataDigest({ metadata, entries }: ShownChain, checks: Checks): Promise<void> {
  const accepted = entries.find(
    (entry): entry is ShownEntry =>
      !isHidden(entry) && entry.proof.kind === 'package_accepted' && 'acceptance' in entry.proof,
  )
  const acceptance: unknown = accepted?.proof['acceptance']
  const digest: unknown =
    Object(acceptance) === acceptance && Reflect.get(acceptance as object, 'metadata_digest')
  checks.check('metadata_digest', digest === (await sha256Digest(canonicalBytes(metadata))), {
    package_id: metadata.package_id,
    ...(accepted && { position: accepted.position }),
  })
}
