import { decodeBase64, encodeBase64 } from '@agent-exchange/crypto'
import { hashFromBase64, parseDecimal } from '../bytes.ts'
import { LogError } from '../errors.ts'
import { requireHashes, requireSizes } from '../merkle/tree-hash.ts'
import { MAXIMUM_NOTE_BYTES } from './note.ts'

const HEADER = 'c2sp.org/tlog-proof@v1'

/** A tree of 2^53 leaves has a path of 53 hashes; C2SP allows at most 63 in a consistency proof. */
export const MAXIMUM_PROOF_HASHES = 63
const MAXIMUM_EXTRA_BYTES = 65_536
const MAXIMUM_PROOF_BYTES = 2 * MAXIMUM_NOTE_BYTES

/** C2SP tlog-proof: everything that proves the inclusion of one entry, offline. */
export interface TlogProof {
  readonly index: number
  readonly hashes: readonly Uint8Array[]
  /** The signed note, verbatim. */
  readonly checkpoint: string
  /** Opaque, and not authenticated. */
  readonly extra?: Uint8Array
}

export function formatProof({ index, hashes, checkpoint, extra }: TlogProof): string {
  requireSizes(index)
  requireHashes(...hashes)
  const extraLines = extra === undefined ? [] : [`extra ${encodeBase64(extra)}`]
  return [HEADER, ...extraLines, `index ${index}`, ...hashes.map(encodeBase64), '', checkpoint].join('\n')
}

export function parseProof(text: string): TlogProof {
  // The checkpoint follows the first blank line: nothing before it can be blank.
  const end = text.length <= MAXIMUM_PROOF_BYTES ? text.indexOf('\n\n') : -1
  const [header, ...lines] = text.slice(0, end).split('\n')
  const extraText = lines[0]?.startsWith('extra ') ? lines.shift()?.slice('extra '.length) : undefined
  const extra = extraText === undefined ? undefined : decodeBase64(extraText)
  const [indexLine = '', ...hashLines] = lines
  const index = indexLine.startsWith('index ') ? parseDecimal(indexLine.slice('index '.length)) : undefined
  const hashes = readHashes(hashLines)
  const isExtraRead = extraText === undefined || (extra !== undefined && extra.length <= MAXIMUM_EXTRA_BYTES)
  if (end < 0 || header !== HEADER || !isExtraRead || index === undefined || hashes === undefined)
    throw new LogError('proof_malformed')
  return { index, hashes, checkpoint: text.slice(end + 2), ...(extra && { extra }) }
}

/** Base64 lines of at most 63 hashes; undefined where one is anything else. */
export function readHashes(lines: readonly string[]): Uint8Array[] | undefined {
  if (lines.length > MAXIMUM_PROOF_HASHES) return undefined
  const hashes = lines.map(hashFromBase64).filter((hash) => hash !== undefined)
  return hashes.length === lines.length ? hashes : undefined
}
