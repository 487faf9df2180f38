import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:https'
import { POLICY_ID, type GatewayProcess } from './gateway-process.ts'

const LIMIT_MS = 60_000
const MAXIMUM_LEASES = 20
const WAIT_SECONDS = 20

export interface Lease {
  readonly item_id: string
  readonly lease_token: string
  readonly received_at: string
}

/** A program of the company at the HTTP interface, with its own connections and key. */
export interface GatewayCalls {
  /** Drafts a package and sends it. */
  send(content: object): Promise<void>
  /** Takes up to 20 packages, and waits for the first. */
  lease(signal: AbortSignal): Promise<readonly Lease[]>
  done(lease: Lease): Promise<void>
}

export function callsOf(gateway: GatewayProcess, key: string, ca: string): GatewayCalls & Disposable {
  const agent = new Agent({ keepAlive: true, ca })
  const { asking, handling } = gateway.pair
  const post = (path: string, body: object, signal?: AbortSignal) =>
    answerOf(`${gateway.url}/api/v1${path}`, { agent, key, body, ...(signal && { signal }) })
  return {
    async send(content) {
      const drafts = `/agents/${asking.agentId}/drafts`
      const to = { to: handling.agentId, object_type: 'reasoning_package', policy_id: POLICY_ID }
      const { draft_id: draftId } = await post(drafts, { ...to, content })
      const { state } = await post(`${drafts}/${String(draftId)}/send`, {})
      if (state !== 'sent') throw new Error(`the gateway did not send: ${String(state)}`)
    },
    async lease(signal) {
      const wanted = { agent_id: handling.agentId, wait: WAIT_SECONDS, max: MAXIMUM_LEASES }
      return (await post('/inbox/leases', wanted, signal))['leases'] as readonly Lease[]
    },
    async done({ item_id: itemId, lease_token }) {
      await post(`/inbox/leases/${itemId}/done`, { lease_token })
    },
    [Symbol.dispose]: () => agent.destroy(),
  }
}

interface Posted {
  readonly agent: Agent
  readonly key: string
  readonly body: object
  readonly signal?: AbortSignal
}

function answerOf(url: string, { agent, key, body, signal }: Posted): Promise<Record<string, unknown>> {
  const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>>()
  const text = JSON.stringify(body)
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'idempotency-key': randomUUID(),
  }
  const sent = request(url, { method: 'POST', agent, headers, timeout: LIMIT_MS, signal }, (response) => {
    let answer = ''
    response.setEncoding('utf8').on('data', (part: string) => (answer += part))
    response.once('error', reject)
    response.once('end', () => {
      if (response.statusCode === 200 || response.statusCode === 201)
        resolve(JSON.parse(answer) as Record<string, unknown>)
      else reject(new Error(`${new URL(url).pathname}: ${response.statusCode} ${answer}`))
    })
  })
  sent.once('timeout', () => sent.destroy(new Error(`${url}: no answer in time`)))
  sent.once('error', reject)
  sent.end(text)
  return promise
}
