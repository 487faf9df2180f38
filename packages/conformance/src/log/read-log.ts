import type { Transport } from '../wire/wire.ts'

export interface LogAnswer {
  readonly status: number
  readonly bytes: Uint8Array
}

/** Reads a path below the prefix of a log, such as `checkpoint` (C2SP tlog-tiles). */
export type ReadLog = (path: string) => Promise<LogAnswer>

/** A log behind a transport; `token` is for one that is not public. */
export function wireLog(prefix: string, send: Transport, token?: string): ReadLog {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return (path) => send({ method: 'GET', url: `${prefix.replace(/\/$/u, '')}/${path}`, headers })
}
