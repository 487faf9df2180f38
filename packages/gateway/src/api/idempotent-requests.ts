import { createHash, randomUUID } from 'node:crypto'
import { fragment, type Queries } from '@agent-exchange/database'
import { deleteInSteps } from '../stores/delete-in-steps.ts'
import { GatewayProblem } from '../problems.ts'

/** Owner of the table api_request. */

/** A request whose instance was killed can be sent again after this time. A running one renews its claim. */
const RUNNING_SECONDS = 10
const RENEWAL_MS = 3_000
const ANSWER_KEPT_HOURS = 24
const DELETED_A_STEP = 1_000
const KEY = /^[\u0021-\u007e]{1,255}$/u

export interface RecordedAnswer {
  readonly status: number
  readonly body: string
}

export interface IdempotentRequest {
  readonly caller: string
  readonly key: string
  /** Operation, path and body. */
  readonly content: string
}

interface RequestRow {
  readonly is_same: boolean
  readonly status: number | null
  readonly answer: string | null
}

const digest = (text: string) => createHash('sha256').update(text).digest()

export function readIdempotencyKey(header: string | readonly string[] | undefined): string | undefined {
  if (header === undefined) return undefined
  if (typeof header !== 'string' || !KEY.test(header))
    throw new GatewayProblem('header_invalid', { header: 'Idempotency-Key' })
  return header
}

/** The request was understood, and something has to happen first: the same request later gets another answer. */
const NOT_YET = 202

/**
 * Runs the request once; a retry gets the recorded answer. A request that failed, or whose answer is 202, may be sent
 * again.
 */
export async function runOnce(
  db: Queries,
  request: IdempotentRequest,
  run: () => Promise<RecordedAnswer>,
): Promise<RecordedAnswer> {
  const keyHash = digest(request.key)
  const claimId = randomUUID()
  const recorded = await claim(db, request, { keyHash, claimId })
  if (recorded) return recorded
  // Only the own claim: another instance may have taken it over.
  const own = fragment`caller = ${request.caller} and key_hash = ${keyHash} and claim_id = ${claimId}`
  const giveUp = () => db`delete from api_request where ${own} and running_until is not null`
  const renew = () => db`
    update api_request set running_until = now() + make_interval(secs => ${RUNNING_SECONDS})
    where ${own} and running_until is not null`
  const renewal = setInterval(() => void renew().catch(() => undefined), RENEWAL_MS)
  try {
    const answer = await run()
    if (answer.status === NOT_YET) {
      await giveUp()
      return answer
    }
    const { count } = await db`
      update api_request set running_until = null, status = ${answer.status}, answer = ${answer.body}
      where caller = ${request.caller} and key_hash = ${keyHash} and running_until is not null`
    // Another instance took an overdue claim over and answered first: both callers get that answer.
    return count > 0 ? answer : ((await find(db, request, keyHash)) ?? answer)
  } catch (error) {
    await giveUp()
    throw error
  } finally {
    clearInterval(renewal)
  }
}

async function claim(
  db: Queries,
  { caller, content }: Pick<IdempotentRequest, 'caller' | 'content'>,
  { keyHash, claimId }: { readonly keyHash: Buffer; readonly claimId: string },
): Promise<RecordedAnswer | undefined> {
  const requestHash = digest(content)
  // The claim of a request whose instance was killed is taken over.
  const claimed = await db`
    insert into api_request (caller, key_hash, request_hash, running_until, claim_id)
    values (${caller}, ${keyHash}, ${requestHash}, now() + make_interval(secs => ${RUNNING_SECONDS}), ${claimId})
    on conflict (caller, key_hash) do update
      set running_until = excluded.running_until, claim_id = excluded.claim_id
      where api_request.running_until < now() and api_request.request_hash = excluded.request_hash`
  if (claimed.count > 0) return undefined
  const found = await find(db, { caller, content }, keyHash)
  // Without a row, the request that held the key has just failed.
  if (!found) throw new GatewayProblem('idempotency_key_in_use', { retry_after_seconds: 1 })
  return found
}

/** The recorded answer; undefined while the request runs. */
async function find(
  db: Queries,
  { caller, content }: Pick<IdempotentRequest, 'caller' | 'content'>,
  keyHash: Buffer,
): Promise<RecordedAnswer | undefined> {
  const [row] = await db<RequestRow[]>`
    select request_hash = ${digest(content)} as is_same, status, answer
    from api_request where caller = ${caller} and key_hash = ${keyHash}`
  if (row && !row.is_same) throw new GatewayProblem('idempotency_key_reuse')
  if (!row || row.status === null || row.answer === null) return undefined
  return { status: row.status, body: row.answer }
}

/** Deletes old answers; returns how many. */
export function deleteOldRequests(db: Queries, signal?: AbortSignal): Promise<number> {
  const step = (rows: number) => db`
    delete from api_request where ctid in (
      select ctid from api_request where created_at < now() - make_interval(hours => ${ANSWER_KEPT_HOURS})
      limit ${rows})`
  return deleteInSteps(DELETED_A_STEP, step, signal)
}
