import { canonicalBytes, parseDigest, sha256Digest } from '@agent-exchange/crypto'
import { validateObject, type EvidenceEntry, type ThreadEvidence } from '@agent-exchange/protocol'
import type { Findings } from './evidence-report.ts'

/** A place in the chain that somebody has seen before. */
export interface ChainAnchor {
  readonly threadId: string
  readonly position: number
  readonly hash: string
}

/** AUD-03: every entry hashes to what it says and names the one before; nothing was taken out or put in. */
export async function verifyChain(
  { thread_id: threadId, entries }: ThreadEvidence,
  anchors: readonly ChainAnchor[],
  findings: Findings,
): Promise<void> {
  const wrongHash = await positionsWhere(entries, async (entry) => {
    const { hash, ...rest } = entry.proof
    return hash !== (await hashOf({ ...entry, proof: rest }))
  })
  findings.check('entries hash to what they say', wrongHash.length === 0, at(wrongHash, entries.length))

  const wrongLink = await positionsWhere(entries, async ({ position, proof }, previous) => {
    if (previous && previous.position >= position) return true
    if (position === 1) return proof.previous_hash !== null
    return previous?.position === position - 1 && proof.previous_hash !== previous.proof.hash
  })
  findings.check('each entry names the one before', wrongLink.length === 0, at(wrongLink, entries.length))

  const gaps = entries.filter(({ position }, index) => position !== (entries[index - 1]?.position ?? 0) + 1)
  if (gaps.length > 0)
    findings.unverifiable(
      `links over ${gaps.length} gaps of the chain`,
      'Entries of packages between other organizations are not shown.',
    )

  const wrongEvent = await positionsWhere(entries, async ({ event }) =>
    event === undefined ? false : !validateObject(event).valid || event.thread_id !== threadId,
  )
  findings.check('audit events are valid', wrongEvent.length === 0, at(wrongEvent, entries.length))

  for (const anchor of anchors.filter((each) => each.threadId === threadId)) {
    const found = entries.find(({ position }) => position === anchor.position)
    findings.check(
      'the chain holds what was seen before',
      found?.proof.hash === anchor.hash,
      `position ${anchor.position}`,
    )
  }
  findings.unverifiable(
    'that the chain was not written anew as a whole',
    'It is hashed, not signed. Compare its end with a copy kept earlier, or with the other party’s.',
  )
}

/** SHA-256 in hexadecimal over RFC 8785, as the exchange links its entries. */
async function hashOf(entry: object): Promise<string> {
  const bytes = parseDigest(await sha256Digest(canonicalBytes(entry)))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

async function positionsWhere(
  entries: readonly EvidenceEntry[],
  isWrong: (entry: EvidenceEntry, previous: EvidenceEntry | undefined) => Promise<boolean>,
): Promise<number[]> {
  const wrong: number[] = []
  for (const [index, entry] of entries.entries())
    if (await isWrong(entry, entries[index - 1])) wrong.push(entry.position)
  return wrong
}

function at(positions: readonly number[], count: number): string {
  return positions.length === 0 ? `${count} entries` : `position ${positions.slice(0, 10).join(', ')}`
}
