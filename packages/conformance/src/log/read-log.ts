export interface LogAnswer {
  readonly status: number
  readonly bytes: Uint8Array
}

/** Reads a path below the prefix of a log, such as `checkpoint` (C2SP tlog-tiles). */
export type ReadLog = (path: string) => Promise<LogAnswer>

interface HttpLogOptions {
  readonly prefix: string
  readonly timeoutMs: number
  /** An access token, for a log that is not public. */
  readonly token?: string
}

/** A full bundle of the largest entries. */
const MAXIMUM_ANSWER_BYTES = 256 * (65_535 + 2)

/** One request at a time, over a log in HTTP. */
export function httpLog({ prefix, timeoutMs, token }: HttpLogOptions): ReadLog {
  return async (path) => {
    const answer = await fetch(`${prefix.replace(/\/$/u, '')}/${path}`, {
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    })
    return { status: answer.status, bytes: await readBounded(answer) }
  }
}

async function readBounded({ body }: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.length
    if (size > MAXIMUM_ANSWER_BYTES)
      throw new Error(`the answer is longer than ${MAXIMUM_ANSWER_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
