import { readTextArray } from '../text-array.ts'

/** A value as the server writes it in text, by the number of its type; the others stay text. */
const READERS = new Map<number, (text: string) => unknown>([
  [16, (text) => text === 't'],
  [17, readBytes],
  [20, safeInteger],
  [21, Number],
  [23, Number],
  [26, Number],
  [114, JSON.parse],
  [700, Number],
  [701, Number],
  [1009, readTextArray],
  [1184, isoTime],
  [3802, JSON.parse],
])

const asText = (text: string) => text

export function readerOf(type: number): (text: string) => unknown {
  return READERS.get(type) ?? asText
}

const HEX_PREFIX = '\\x'

function readBytes(text: string): Buffer {
  return Buffer.from(text.slice(HEX_PREFIX.length), 'hex')
}

// 2026-03-02 08:00:00.123+00, as the server writes it in the zone UTC.
function isoTime(text: string): string {
  return new Date(text.replace(' ', 'T').replace('+00', 'Z')).toISOString()
}

function safeInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError('an integer from the database is too large')
  return value
}
