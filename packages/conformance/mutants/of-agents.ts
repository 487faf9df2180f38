import { ACCEPTED, REJECTED } from '../src/agent/checks/webhook-attacks.ts'
import { OPENED, REFUSED } from '../src/agent/checks/opening-attacks.ts'
import type { AgentMutation } from '../src/agent/judge-agent.ts'
import type { AgentRequest } from '../src/agent/agent-request.ts'

/** An agent that breaks one rule. The check of this name, which is of this id, must find it. */
export interface AgentMutant {
  readonly id: string
  readonly check: string
  readonly does: string
  readonly mutation: () => AgentMutation
}

const STORED = 204
const REFUSED_STATUS = 401

const accepting = (): AgentMutation => ({
  status: (_, status) => (status < 300 ? status : STORED),
})
const refusing = (): AgentMutation => ({ status: () => REFUSED_STATUS })
const opening = (): AgentMutation => ({
  answer: (command, answer) => (command === 'open' ? { opened: true, object: {} } : answer),
})
const closed = (): AgentMutation => ({
  answer: (command, answer) => (command === 'open' ? { opened: false } : answer),
})
const handling = (change: (ids: readonly string[]) => readonly string[]) => (): AgentMutation => ({
  answer: (command, answer) =>
    command === 'handled' ? { event_ids: change(answer['event_ids'] as string[]) } : answer,
})
const requesting = (change: (request: AgentRequest) => AgentRequest) => (): AgentMutation => ({
  requests: (all) => all.map(change),
})
const withoutHeader = (name: string) =>
  requesting((request) => ({
    ...request,
    headers: Object.fromEntries(Object.entries(request.headers).filter(([each]) => each !== name)),
  }))
const receipting = (change: object) => (): AgentMutation => ({
  receipt: (receipt) => ({ ...receipt, ...change }),
})
const mutant = (id: string, check: string, does: string, mutation: () => AgentMutation): AgentMutant => ({
  id,
  check: `agent/${check}`,
  does,
  mutation,
})
const changedAck = (change: object) =>
  requesting((request) =>
    request.path.endsWith('/ack') ? { ...request, body: { ...request.body, ...change } } : request,
  )

export const AGENT_MUTANTS: readonly AgentMutant[] = [
  ...REJECTED.map(({ name, title }) =>
    mutant('EVT-14', `webhooks/rejects/${name}`, `Breaks: ${title}`, accepting),
  ),
  ...ACCEPTED.map(({ name, title }) =>
    mutant('EVT-14', `webhooks/accepts/${name}`, `Breaks: ${title}`, refusing),
  ),
  mutant(
    'EVT-14',
    'stream/duplicate',
    'Handles a repeated event again',
    handling((ids) => [...ids, ...ids]),
  ),
  mutant('EVT-14', 'stream/replay', 'Refuses a replay', () => ({
    status: ({ headers }, status) =>
      headers['svc-delivery-id'] === `dlv_${headers['svc-event-id']}` ? status : REFUSED_STATUS,
  })),
  mutant('EVT-14', 'stream/same-id-other-content', 'Takes other content under a known id', accepting),
  mutant(
    'EVT-14',
    'stream/shuffled',
    'Handles events as they arrive',
    handling((ids) => ids.toReversed()),
  ),
  mutant(
    'EVT-14',
    'stream/gap',
    'Handles later events first',
    handling((ids) => ids.toReversed()),
  ),
  mutant(
    'EVT-14',
    'stream/interrupted-poll',
    'Handles a page twice',
    handling((ids) => [...ids, ...ids]),
  ),
  mutant(
    'EVT-14',
    'stream/restart',
    'Handles events again after a restart',
    handling((ids) => [...ids, ...ids]),
  ),
  mutant(
    'EVT-14',
    'stream/acknowledgements',
    'Acknowledges another event',
    changedAck({ event_id: 'evt_x' }),
  ),
  mutant(
    'EVT-14',
    'stream/acknowledgements',
    'Acknowledges events that it never saw',
    changedAck({ last_contiguous_sequence: 1e9 }),
  ),
  mutant('EVT-14', 'stream/cursors', 'Does not read the stream', () => ({ requests: () => [] })),
  mutant('EVT-14', 'stream/rotation', 'Refuses a new key', refusing),
  mutant('EVT-14', 'stream/revocation', 'Accepts a key after its revocation', accepting),
  ...REFUSED.map(({ name, ids: [id = ''], title }) =>
    mutant(id, `opening/refuses/${name}`, `Breaks: ${title}`, opening),
  ),
  ...OPENED.map(({ name, ids: [id = ''], title }) =>
    mutant(id, `opening/opens/${name}`, `Breaks: ${title}`, closed),
  ),
  mutant('PKG-08', 'opening/opens/usual', 'Signs another receipt', receipting({ receipt_id: 'rcpt_x' })),
  mutant('PKG-08', 'opening/opens/usual', 'Names another state', receipting({ state: 'read' })),
  mutant('PKG-08', 'opening/opens/usual', 'Names no digest', receipting({ package_digest: 'x' })),
  mutant('PKG-08', 'opening/opens/usual', 'Names another agent', receipting({ actor_agent_id: 'agent_x' })),
  mutant('API-03', 'requests/headers', 'Sends no X-Correlation-ID', withoutHeader('x-correlation-id')),
  mutant('API-03', 'requests/headers', 'Sends no Idempotency-Key', withoutHeader('idempotency-key')),
  mutant('API-08', 'requests/token', 'Sends no access token', withoutHeader('authorization')),
  mutant('API-05', 'requests/idempotency', 'Uses one idempotency key for everything', () => ({
    requests: (all) => [
      ...all.map((each) => ({ ...each, headers: { ...each.headers, 'idempotency-key': 'same' } })),
      ...all.map((each) => ({
        ...each,
        headers: { ...each.headers, 'idempotency-key': 'same' },
        body: { ...each.body, other: true },
      })),
    ],
  })),
  mutant(
    'AUTH-04',
    'requests/private-keys',
    'Registers its private keys',
    requesting((request) => ({ ...request, body: { ...request.body, d: 'A'.repeat(43) } })),
  ),
  mutant('ID-01', 'requests/registration', 'Registers no encryption key', () => ({
    registration: ({ keys, ...rest }) => ({ ...rest, keys: Array.isArray(keys) ? keys.slice(0, 1) : [] }),
  })),
]
