import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import {
  draftPackage,
  freshId,
  type Answer,
  type DraftOptions,
  type Organization,
  type PackageDraft,
  type RequestOptions,
} from '@agent-exchange/testkit'

/** Nobody waits for an answer longer. */
const ANSWER_LIMIT_MS = 45_000
const SAME_BYTES = 'an exact retry gives the same bytes'

/** One package that somebody tried to send, with the keys that make its requests repeatable. */
export interface Attempt {
  readonly from: Organization
  readonly to: Organization
  readonly draft: PackageDraft
  readonly receiptKey: string
  readonly packageKey: string
  /** The bytes of the 201, once there was one. */
  receiptAnswer: string | undefined
  /** The bytes of the 202, once there was one. */
  answer: string | undefined
  /** How requests ended that got no 2xx: a status, or the failure of the connection. */
  readonly troubles: string[]
}

/** Every attempt that was made, in order. */
export type Ledger = Attempt[]

export async function newAttempt(
  from: Organization,
  to: Organization,
  { threadId = freshId('thread'), plaintext }: Pick<DraftOptions, 'threadId' | 'plaintext'> = {},
): Promise<Attempt> {
  return {
    from,
    to,
    draft: await draftPackage(from, to, { threadId, ...(plaintext && { plaintext }) }),
    receiptKey: randomUUID(),
    packageKey: randomUUID(),
    receiptAnswer: undefined,
    answer: undefined,
    troubles: [],
  }
}

interface SendOptions {
  /** Another replica. */
  readonly at?: string | undefined
  readonly limitMs?: number
}

/** Sends receipt and package as they are, under their keys: the first time, or again. Undefined: no answer. */
export async function send(attempt: Attempt, at?: string): Promise<Answer | undefined> {
  return (await sendReceipt(attempt, { at })) && sendPackage(attempt, { at })
}

export async function sendReceipt(attempt: Attempt, options: SendOptions = {}): Promise<Answer | undefined> {
  const { from, draft, receiptKey: idempotencyKey } = attempt
  const answer = await trying(attempt, options, (more) =>
    from.post('/v1/policy-receipts', draft.receipt, { idempotencyKey, ...more }),
  )
  if (answer?.status !== 201) return undefined
  attempt.receiptAnswer ??= answer.text
  assert.equal(answer.text, attempt.receiptAnswer, SAME_BYTES)
  return answer
}

export async function sendPackage(attempt: Attempt, options: SendOptions = {}): Promise<Answer | undefined> {
  const { from, draft, packageKey: idempotencyKey } = attempt
  const answer = await trying(attempt, options, (more) =>
    from.post('/v1/packages', draft.body, { idempotencyKey, ...more }),
  )
  if (answer?.status !== 202) return undefined
  attempt.answer ??= answer.text
  assert.equal(answer.text, attempt.answer, SAME_BYTES)
  return answer
}

async function trying(
  attempt: Attempt,
  { at, limitMs = ANSWER_LIMIT_MS }: SendOptions,
  request: (options: RequestOptions) => Promise<Answer>,
): Promise<Answer | undefined> {
  try {
    const answer = await request({ signal: AbortSignal.timeout(limitMs), ...(at && { at }) })
    if (answer.status >= 300) attempt.troubles.push(`${answer.status} ${String(answer.body['code'])}`)
    // A fault of ours must never look like a fault of the caller's.
    if (answer.status >= 400 && answer.status < 500) throw new Refused(answer.text)
    return answer
  } catch (error) {
    if (error instanceof Refused) throw error
    attempt.troubles.push(reasonOf(error))
    return undefined
  }
}

class Refused extends Error {}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause instanceof Error ? error.cause : error
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.name
}

/** How often each kind of trouble was met: `3 ECONNRESET, 1 500 internal_error`. */
export function summarize(attempts: readonly Attempt[]): string {
  const counts = new Map<string, number>()
  for (const trouble of attempts.flatMap(({ troubles }) => troubles))
    counts.set(trouble, (counts.get(trouble) ?? 0) + 1)
  return [...counts].map(([trouble, count]) => `${count} ${trouble}`).join(', ') || 'none'
}

export interface LoadOptions {
  readonly pairs: readonly (readonly [from: Organization, to: Organization])[]
  readonly clients: number
  /** Most attempts of one client. */
  readonly attempts: number
  /** Other replicas to spread over. */
  readonly at?: readonly string[]
  /** Each attempt goes to the next pair, in a thread of its own; otherwise a client keeps its pair and thread. */
  readonly eachAttempt?: boolean
}

export interface Load {
  /** Resolves when every client has sent its share. */
  readonly finished: Promise<unknown>
  stop(): Promise<void>
}

/** Several clients that send one package after the other until they are stopped or have sent their share. */
export function startLoad(ledger: Ledger, options: LoadOptions): Load {
  const threads = Array.from({ length: options.clients }, () => freshId('thread'))
  return startClients(options.clients, async (number, turn) => {
    if (turn === options.attempts) return false
    const pair = options.eachAttempt ? number * options.attempts + turn : number
    const [from, to] = options.pairs[pair % options.pairs.length] ?? []
    if (!from || !to) return false
    const threadId = threads[number]
    const attempt = await newAttempt(from, to, options.eachAttempt || !threadId ? {} : { threadId })
    ledger.push(attempt)
    await send(attempt, options.at?.[(number + turn) % options.at.length])
    return true
  })
}

/** Clients at once, each of which takes its next turn after the last, until it has no more or all are stopped. */
export function startClients(
  count: number,
  takeTurn: (client: number, turn: number) => Promise<boolean>,
): Load {
  let isStopped = false
  const client = async (number: number) => {
    for (let turn = 0; !isStopped; turn++) if (!(await takeTurn(number, turn))) return
  }
  const clients = Promise.all(Array.from({ length: count }, (_, number) => client(number)))
  // A failure is told to whoever stops the load, however much later that is.
  clients.catch(() => undefined)
  return {
    finished: clients,
    stop: async () => {
      isStopped = true
      await clients
    },
  }
}
