import { LogError } from '../errors.ts'

/** C2SP tlog-tiles: the length of an entry is a 16-bit number. */
export const MAXIMUM_ENTRY_BYTES = 65_535
const PREFIX = 2

/** Entries, each after its length. */
export function encodeBundle(entries: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(entries.reduce((length, entry) => length + PREFIX + entry.length, 0))
  const view = new DataView(bytes.buffer)
  let at = 0
  for (const entry of entries) {
    if (entry.length > MAXIMUM_ENTRY_BYTES) throw new LogError('entry_length')
    view.setUint16(at, entry.length)
    bytes.set(entry, at + PREFIX)
    at += PREFIX + entry.length
  }
  return bytes
}

/** Exactly `width` entries and nothing after them. */
export function decodeBundle(bytes: Uint8Array, width: number): Uint8Array[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const entries: Uint8Array[] = []
  let at = 0
  while (entries.length < width && at + PREFIX <= bytes.length) {
    const end = at + PREFIX + view.getUint16(at)
    if (end > bytes.length) break
    entries.push(bytes.slice(at + PREFIX, end))
    at = end
  }
  if (entries.length !== width || at !== bytes.length) throw new LogError('bundle_malformed')
  return entries
}
