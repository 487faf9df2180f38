import { canonicalBytes, parseDigest, sha256Digest, unlessRefused } from '@agent-exchange/crypto'
import { isEarlier } from '@agent-exchange/protocol'
import { toHex } from '../bytes.ts'
import type { Claims } from './claims.ts'
import type { EvidenceBundle, ThreadEntry } from './evidence-bundle.ts'
import type { CheckCode } from '../verdict/check-codes.ts'
import type { Checks } from '../verdict/check.ts'

/** An entry of the chain with what was verified of it. */
export type EntryClaims = Claims<ThreadEntry>

/** A place in the chain that somebody has seen before. */
export interface ChainAnchor {
  readonly threadId: string
  readonly position: number
  readonly hash: string
}

/** AUD-03: every entry hashes to what it says and names the one before; nothing was taken out or put in. */
export async function verifyChain(
  { thread_id: threadId }: EvidenceBundle,
  entries: readonly EntryClaims[],
  anchors: readonly ChainAnchor[],
  checks: Checks,
): Promise<void> {
  await verifyHashes(entries, checks)
  verifyLinks(entries, checks)
  verifyOrderOfTimes(entries, checks)
  for (const anchor of anchors.filter((each) => each.threadId === threadId)) {
    const found = entries.find(({ value }) => value.position === anchor.position)
    const isSame = found?.value.proof.hash === anchor.hash
    checks.check('thread_anchor', isSame, { position: anchor.position })
  }
  checks.unproved('thread_rewritten')
}

async function verifyHashes(entries: readonly EntryClaims[], checks: Checks): Promise<void> {
  const wrong: number[] = []
  for (const claims of entries) {
    const { hash, ...rest } = claims.value.proof
    if (hash === (await hashOf({ ...claims.value, proof: rest }))) claims.cover('position', 'proof/hash')
    else wrong.push(claims.value.position)
  }
  checkEach('thread_hashes', wrong, entries.length, checks)
}

function verifyLinks(entries: readonly EntryClaims[], checks: Checks): void {
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
  checkEach('thread_links', wrong, entries.length, checks)
  if (gaps > 0) checks.unproved('thread_gaps', { values: { gaps } })
}

/** AUD-01: the order of the chain is the order of recording. Earlier releases could record a little out of order. */
function verifyOrderOfTimes(entries: readonly EntryClaims[], checks: Checks): void {
  const backwards = entries.filter(({ value }, index) => {
    const previous = entries[index - 1]?.value
    return previous !== undefined && isEarlier(value.proof.recorded_at, previous.proof.recorded_at) !== false
  })
  for (const { value } of backwards) checks.add('recorded_order', 'doubt', { position: value.position })
  if (backwards.length === 0) checks.holds('recorded_order', { values: { entries: entries.length } })
}

/** SHA-256 in hexadecimal over RFC 8785, as the exchange links its entries; undefined where there is no such form. */
async function hashOf(entry: object): Promise<string | undefined> {
  const bytes = unlessRefused(() => canonicalBytes(entry))
  return bytes && toHex(parseDigest(await sha256Digest(bytes)))
}

function checkEach(code: CheckCode, wrong: readonly number[], entries: number, checks: Checks): void {
  for (const position of wrong) checks.fails(code, { position })
  if (wrong.length === 0) checks.holds(code, { values: { entries } })
}
