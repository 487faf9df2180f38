import { canonicalBytes, CryptoError, parseDigest, sha256Digest } from '@agent-exchange/crypto'
import { isEarlier } from '@agent-exchange/protocol'
import type { Claims } from './claims.ts'
import type { EvidenceBundle, ThreadEntry } from './evidence-bundle.ts'
import { firstOf, type Findings } from './evidence-report.ts'

/** An entry of the chain with what was verified of it. */
export type EntryClaims = Claims<ThreadEntry>

/** A place in the chain that somebody has seen before. */
export interface ChainAnchor {
  readonly threadId: string
  readonly position: number
  readonly hash: string
}

/** What a chain alone leaves open, and a log answers. */
export const REWRITTEN_CHAIN = 'whether the exchange rewrote the chain as a whole'

/** AUD-03: every entry hashes to what it says and names the one before; nothing was taken out or put in. */
export async function verifyChain(
  { thread_id: threadId }: EvidenceBundle,
  entries: readonly EntryClaims[],
  anchors: readonly ChainAnchor[],
  findings: Findings,
): Promise<void> {
  await verifyHashes(entries, findings)
  verifyLinks(entries, findings)
  verifyOrderOfTimes(entries, findings)
  for (const anchor of anchors.filter((each) => each.threadId === threadId)) {
    const found = entries.find(({ value }) => value.position === anchor.position)
    const isSame = found?.value.proof.hash === anchor.hash
    findings.check('the chain holds what was seen before', isSame, `position ${anchor.position}`)
  }
  findings.unverifiable(
    REWRITTEN_CHAIN,
    'It is hashed, not signed. Compare its end with a copy kept earlier, or with the other party’s.',
  )
}

async function verifyHashes(entries: readonly EntryClaims[], findings: Findings): Promise<void> {
  const wrong: number[] = []
  for (const claims of entries) {
    const { hash, ...rest } = claims.value.proof
    if (hash === (await hashOf({ ...claims.value, proof: rest }))) claims.cover('position', 'proof/hash')
    else wrong.push(claims.value.position)
  }
  findings.check('entries hash to what they say', wrong.length === 0, at(wrong, entries.length))
}

function verifyLinks(entries: readonly EntryClaims[], findings: Findings): void {
  const wrong: number[] = []
  let gaps = 0
  for (const [index, claims] of entries.entries()) {
    const { position, proof } = claims.value
    const previous = entries[index - 1]?.value
    const isNext = position === (previous?.position ?? 0) + 1
    const isLinked = proof.previous_hash === (previous?.proof.hash ?? null)
    if (previous && previous.position >= position) wrong.push(position)
    else if (!isNext) gaps++
    else if (isLinked) claims.cover('proof/previous_hash')
    else wrong.push(position)
  }
  findings.check('each entry names the one before', wrong.length === 0, at(wrong, entries.length))
  if (gaps > 0)
    findings.unverifiable(
      `whether entries are missing, and the links over ${gaps} gaps of the chain`,
      'Only the entries of the packages in this evidence are shown. Collect the evidence of the whole thread; entries between other organizations stay hidden.',
    )
}

/** AUD-01: the order of the chain is the order of recording. Earlier releases could record a little out of order. */
function verifyOrderOfTimes(entries: readonly EntryClaims[], findings: Findings): void {
  const backwards = entries.filter(({ value }, index) => {
    const previous = entries[index - 1]?.value
    return previous !== undefined && isEarlier(value.proof.recorded_at, previous.proof.recorded_at) !== false
  })
  const detail = at(
    backwards.map(({ value }) => value.position),
    entries.length,
  )
  const doubt = backwards.length > 0 ? true : undefined
  findings.check(
    doubt ? 'recorded times run backwards' : 'recorded times never run backwards',
    true,
    detail,
    { doubt },
  )
}

/** SHA-256 in hexadecimal over RFC 8785, as the exchange links its entries; undefined where there is no such form. */
async function hashOf(entry: object): Promise<string | undefined> {
  try {
    const bytes = parseDigest(await sha256Digest(canonicalBytes(entry)))
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  } catch (error) {
    if (error instanceof CryptoError) return undefined
    throw error
  }
}

function at(positions: readonly number[], count: number): string {
  return positions.length === 0 ? `${count} entries` : `position ${firstOf(positions)}`
}
