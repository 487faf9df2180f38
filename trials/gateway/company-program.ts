import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { reasoning } from '../../packages/gateway/src/api/api.fixture.ts'
import { POLICY_ID, type Company } from './company.ts'

/** Time for one request, and for all attempts of it. */
const REQUEST_MS = 40_000
const PATIENCE_MS = 480_000
const PAUSE_MS = 100
const VISIBILITY_SECONDS = 15
const LEASES = 5

export interface Answered {
  readonly status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- an answer of the API
  readonly body: Record<string, any>
}

/** What the programs of the companies saw. */
export interface Ledger {
  /** Package by the text of its question. */
  readonly asked: Map<string, string>
  /** Answer by the package that it answers. */
  readonly answered: Map<string, string>
  /** Texts of questions that were handled, with their packages: a second package of a question shows. */
  readonly heard: Map<string, Set<string>>
  /** Items whose `done` was confirmed. */
  readonly done: Set<string>
  /** Answers that arrived. */
  readonly arrived: Set<string>
  /** Items that were given out after their `done` was confirmed. */
  readonly repeated: string[]
  /** Failed attempts by kind. */
  readonly failures: Map<string, number>
}

export const newLedger = (): Ledger => ({
  asked: new Map(),
  answered: new Map(),
  heard: new Map(),
  done: new Set(),
  arrived: new Set(),
  repeated: [],
  failures: new Map(),
})

interface Request {
  readonly path: string
  readonly body?: object
  readonly idempotencyKey?: string
  /** Statuses beyond 2xx that end the attempts. */
  readonly accepts?: readonly number[]
}

let turn = 0

/** A lease as the API gives it. */
interface Lease {
  readonly item_id: string
  readonly package_id: string
  readonly lease_token: string
  readonly package?: {
    readonly object: { readonly object_type: string; readonly reasoning?: { readonly summary: string } }
  }
}

/** A program of a company: it knows the API, the addresses of both instances and a key. */
export function programOf(company: Company, key: string, ledger: Ledger) {
  const { agentId, instances } = company
  const failed = (kind: string) => void ledger.failures.set(kind, (ledger.failures.get(kind) ?? 0) + 1)

  /** Sends a request until it is answered, to one instance after the other, with the same idempotency key. */
  async function call({ path, body, idempotencyKey, accepts = [] }: Request): Promise<Answered> {
    const end = performance.now() + PATIENCE_MS
    let last = ''
    while (performance.now() < end) {
      const instance = instances[(turn += 1) % instances.length]
      const answer = await attempt(`${instance?.url}/api/v1${path}`, { body, idempotencyKey })
      if (typeof answer !== 'string' && (answer.status < 300 || accepts.includes(answer.status)))
        return answer
      last = typeof answer === 'string' ? answer : `${answer.status} ${answer.body['code']}`
      failed(last)
      if (typeof answer !== 'string' && !isWorthRepeating(answer))
        throw new Error(`${path}: ${last} ${JSON.stringify(answer.body)}`)
      await sleep(PAUSE_MS)
    }
    throw new Error(`${company.name} ${path}: no answer in ${PATIENCE_MS / 1_000} s, last ${last}`)
  }

  async function attempt(
    url: string,
    { body, idempotencyKey }: { body: object | undefined; idempotencyKey: string | undefined },
  ): Promise<Answered | string> {
    try {
      const response = await fetch(url, {
        method: body ? 'POST' : 'GET',
        headers: {
          authorization: `Bearer ${key}`,
          ...(body && { 'content-type': 'application/json' }),
          ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(REQUEST_MS),
      })
      return { status: response.status, body: (await response.json()) as Answered['body'] }
    } catch (error) {
      const cause: unknown = error instanceof Error ? (error.cause ?? error) : error
      if (!(cause instanceof Error)) return 'unknown'
      return 'code' in cause ? String(cause.code) : cause.name
    }
  }

  async function draftAndSend(content: object, name: string): Promise<string> {
    const path = `/agents/${agentId}/drafts`
    const draft = await call({ path, body: content, idempotencyKey: `draft ${name}`.replaceAll(' ', '-') })
    const draftId = String(draft.body['draft_id'])
    const sent = await call({
      path: `${path}/${draftId}/send`,
      body: {},
      idempotencyKey: `send ${name}`.replaceAll(' ', '-'),
    })
    assert.equal(sent.body['state'], 'sent')
    return String(sent.body['package_id'])
  }

  async function ask(to: Company, text: string): Promise<void> {
    const content = {
      to: to.agentId,
      object_type: 'reasoning_package',
      policy_id: POLICY_ID,
      content: reasoning(text),
    }
    ledger.asked.set(text, await draftAndSend(content, text))
  }

  async function answerTo(packageId: string): Promise<void> {
    const content = { response_actions: ['agree'], response_summary: `Agreed to ${packageId}.` }
    const body = { responds_to: packageId, policy_id: POLICY_ID, content }
    const answerId = await draftAndSend(body, packageId)
    const before = ledger.answered.get(packageId)
    assert.ok(before === undefined || before === answerId, `${packageId} was answered twice`)
    ledger.answered.set(packageId, answerId)
  }

  async function handle(lease: Lease): Promise<void> {
    const { item_id: itemId, package_id: packageId, package: opened } = lease
    if (ledger.done.has(itemId)) ledger.repeated.push(itemId)
    assert.ok(opened, `${packageId} came without its content`)
    if (opened.object.object_type === 'reasoning_package') {
      const text = String(opened.object.reasoning?.summary)
      ledger.heard.set(text, (ledger.heard.get(text) ?? new Set()).add(packageId))
      await answerTo(packageId)
    } else ledger.arrived.add(packageId)
    const path = `/inbox/leases/${itemId}/done`
    const body = { lease_token: lease.lease_token }
    // 409: an attempt whose answer was lost has succeeded, or the lease ended and the item returns.
    const { status } = await call({ path, body, accepts: [409] })
    if (status === 200) ledger.done.add(itemId)
  }

  /** Takes what waits, once. */
  async function takeTurn(): Promise<void> {
    const body = { wait: 2, max: LEASES, visibility: VISIBILITY_SECONDS }
    const { body: given } = await call({ path: '/inbox/leases', body })
    for (const lease of given['leases']) await handle(lease)
  }

  const capsule = async (packageId: string) =>
    (await call({ path: `/agents/${agentId}/capsule?package_id=${packageId}&wait=10` })).body

  return { ask, takeTurn, capsule }
}

/** A refusal for good would be an error of the trial; all else is what a program repeats. */
function isWorthRepeating({ status, body }: Answered): boolean {
  return status >= 500 || status === 429 || body['code'] === 'idempotency_key_in_use'
}
