import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { CryptoError, parseStrictJson } from '@agent-exchange/crypto'

/** Far beyond what any object needs; it only keeps a hostile file from exhausting the stack. */
const DEEPEST = 1_000

export type ReadResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: string }

/** Reads a JSON file (`-`: standard input) as strictly as signed input is read: duplicate members are refused. */
export async function readJson(file: string): Promise<ReadResult> {
  let bytes: Uint8Array
  try {
    bytes = file === '-' ? Buffer.from(await text(process.stdin)) : readFileSync(file)
  } catch (error) {
    return { ok: false, reason: `cannot be read: ${reasonOf(error)}` }
  }
  return parseJson(bytes)
}

export function parseJson(bytes: Uint8Array): ReadResult {
  try {
    return { ok: true, value: parseStrictJson(bytes, { maxDepth: DEEPEST }) }
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error
    return { ok: false, reason: `is not usable JSON${placeOf(error, bytes)}: ${error.message}` }
  }
}

function placeOf({ offset }: CryptoError, bytes: Uint8Array): string {
  if (offset === undefined) return ''
  const before = Buffer.from(bytes).toString('utf8').slice(0, offset).split('\n')
  return ` (line ${before.length}, column ${(before.at(-1) ?? '').length + 1})`
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const reasons: Record<string, string> = {
    ENOENT: 'there is no such file',
    EISDIR: 'it is a folder',
    EACCES: 'permission is denied',
  }
  return reasons[code] ?? 'it could not be opened'
}
