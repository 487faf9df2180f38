import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MAXIMUM_NOTE_BYTES, tilePath, type ReadTile } from '@agent-exchange/log'
import { Problem } from '../../kernel/problem.ts'

const REQUEST_LIMIT_MS = 10_000
const RECOVERY_LIMIT_MS = 120_000
const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost'])
/** A bundle of 256 entries of 66 bytes is the largest file of our log. */
const MAXIMUM_FILE_BYTES = Math.max(MAXIMUM_NOTE_BYTES, 32_768)

/** A complete copy of a log in the C2SP tlog-tiles layout, at an http(s) URL or in a folder (file URL). */
export interface LogMirror {
  checkpoint(): Promise<Uint8Array>
  readonly readTile: ReadTile
}

/** A token is sent only over https, or to the machine itself. */
export function openMirror(address: string, token?: string): LogMirror {
  const url = URL.parse(address)
  if (!url || !['http:', 'https:', 'file:'].includes(url.protocol))
    throw unusable('Use an http, https or file URL.')
  if (token !== undefined && url.protocol === 'http:' && !LOOPBACK.has(url.hostname))
    throw unusable('Use https for a mirror that needs a token.')
  const base = address.replace(/\/$/u, '')
  const read = url.protocol === 'file:' ? folderReader(fileURLToPath(url)) : urlReader(base, token)
  return { checkpoint: () => read('checkpoint'), readTile: (name) => read(tilePath(name)) }
}

function folderReader(folder: string): (path: string) => Promise<Uint8Array> {
  return async (path) => {
    try {
      return await readFile(join(folder, path))
    } catch {
      throw unusable(`The mirror has no readable file ${path}.`)
    }
  }
}

function urlReader(base: string, token: string | undefined): (path: string) => Promise<Uint8Array> {
  // The whole recovery is one transaction.
  const deadline = AbortSignal.timeout(RECOVERY_LIMIT_MS)
  return async (path) => {
    let answer: Response
    try {
      answer = await fetch(`${base}/${path}`, {
        redirect: 'error',
        signal: AbortSignal.any([deadline, AbortSignal.timeout(REQUEST_LIMIT_MS)]),
        ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
      })
    } catch {
      throw unusable('The mirror does not answer.')
    }
    if (!answer.ok) throw unusable(`The mirror answers ${answer.status} for ${path}.`)
    const parts: Uint8Array[] = []
    let length = 0
    for await (const part of answer.body ?? []) {
      length += part.length
      if (length > MAXIMUM_FILE_BYTES) throw unusable(`The mirror's file ${path} is too long.`)
      parts.push(part)
    }
    return Buffer.concat(parts)
  }
}

export function unusable(message: string): Problem {
  return new Problem('validation_failed', { failures: [{ pointer: '/mirror_url', rule: 'O-07', message }] })
}
