import { CryptoError, decodeBase64url } from '@agent-exchange/crypto'
import { LogError } from '../errors.ts'
import { chainRecordLeaf } from '../leaf/chain-record-leaf.ts'
import type { CapsulePackage, CapsuleRecord } from './capsule-v3-format.ts'
import type { Checks } from '../verdict/check.ts'
import { identityOf } from './follow-chain.ts'
import { placeLeaf, type Placed, type VerifiedTree } from './place-leaf.ts'

/** The index of the leaf that holds each entry, by position. */
export type EntryLeaves = ReadonlyMap<number, number>

/**
 * The records of a package cover its chain in order, and the log holds each of them, in the same order. Records that the
 * log does not include yet are the last ones; one that is missing before another was taken out.
 */
export function verifyChainRecords(
  shown: CapsulePackage,
  links: readonly Uint8Array[],
  tree: VerifiedTree,
  checks: Checks,
): EntryLeaves {
  const { package_id } = shown.metadata
  const leaves = new Map<number, number>()
  const end = links.length - 1
  let [covered, lastIndex] = [0, -1]
  for (const record of shown.records) {
    const { first_position: first, last_position: last } = record
    const about = { package_id, position: first }
    const isNext = first === covered + 1 && last >= first && last <= end
    if (!checks.check('record_positions', isNext, about)) return leaves
    covered = last
    const { index, fault } = placeRecord(shown, record, links, tree)
    if (index === undefined) {
      checks.fails('record_leaf', { ...about, values: { fault } })
      continue
    }
    checks.holds('record_leaf', { ...about, values: { index, last_position: last } })
    checks.check('record_order', index > lastIndex, about)
    lastIndex = index
    for (let position = first; position <= last; position++) leaves.set(position, index)
  }
  if (covered < end) checks.unproved('record_missing', { package_id, position: covered + 1 })
  return leaves
}

function placeRecord(
  shown: CapsulePackage,
  { first_position: first, last_position: last, salt, proof }: CapsuleRecord,
  links: readonly Uint8Array[],
  tree: VerifiedTree,
): Placed {
  const [linkBefore, lastLink] = [links[first - 1], links[last]]
  if (!linkBefore || !lastLink) return { fault: 'leaf_field' }
  try {
    const record = { ...identityOf(shown), firstPosition: first, lastPosition: last, linkBefore, lastLink }
    return placeLeaf(chainRecordLeaf(record, decodeBase64url(salt)), proof, tree)
  } catch (error) {
    if (error instanceof LogError || error instanceof CryptoError) return { fault: 'leaf_field' }
    throw error
  }
}
