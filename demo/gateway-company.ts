import { join } from 'node:path'
import {
  addAgent,
  addPerson,
  addSystem,
  openGateway,
  putPolicy,
  readGatewayConfig,
  runGateway,
} from '@agent-exchange/gateway'
import type { CollectedCapsule, Identity } from '@agent-exchange/sdk'
import { freePorts } from '@agent-exchange/testkit'
import type { DemoExchange } from './demo-exchange.ts'
import { startPythonProgram, type PythonProgram } from './python-program.ts'
import { SKILL } from './register-agent.ts'
import type { Stage } from './stage.ts'
import type { AgentAtGateway } from './story.ts'
import { policyFor } from './story-objects.ts'
import { LANE_NAMES } from './timeline.ts'

/** Nobody waits seconds for the next page of events at a demo. */
const POLL_MS = 200

/** A company with a gateway, and a Python program that uses it. */
export interface GatewayCompany extends AgentAtGateway {
  readonly policyId: string
  readonly program: PythonProgram
  stop(): Promise<void>
  /** Starts the gateway again, with what it stored. */
  restart(): Promise<void>
}

export interface GatewayFounding {
  readonly identity: Identity
  readonly partner: Identity
}

export async function foundGatewayCompany(
  { exchange, folder, timeline, now, cleanup }: Stage,
  { identity, partner }: GatewayFounding,
): Promise<GatewayCompany> {
  const [port, adminPort, webhookPort] = await freePorts(3)
  const config = readGatewayConfig({
    AEX_GATEWAY_PORT: String(port),
    AEX_GATEWAY_ADMIN_PORT: String(adminPort),
    AEX_GATEWAY_WEBHOOK_PORT: String(webhookPort),
    AEX_GATEWAY_DATA_DIR: join(folder, 'gateway'),
    AEX_GATEWAY_LOG_LEVEL: 'silent',
  })
  const start = () => runGateway(config, { limits: { pollMs: POLL_MS, idleMs: POLL_MS } })
  let running = await start()
  cleanup.defer(() => running[Symbol.asyncDispose]())
  const note = (what: string, detail?: string) =>
    timeline.add({ who: 'supplier', kind: 'note', what, ...(detail !== undefined && { detail }) })
  note('starts a gateway, with a database of its own', running.urls.api)

  const { agentId } = identity
  const policy = policyFor(identity, partner, now(), false)
  const enrolled = await enroll(config, { exchange, identity, policy })
  await running.agents.refresh()
  timeline.add({
    who: 'supplier',
    to: 'exchange',
    kind: 'note',
    what: 'an administrator adds an agent to the gateway',
    detail: `${agentId}  fingerprint ${enrolled.fingerprint.slice(0, 12)}…`,
  })
  timeline.add({ who: 'supplier', kind: 'decision', what: 'a person writes a policy for programs' })
  const program = cleanup.use(
    startPythonProgram({ GATEWAY_URL: running.urls.api, GATEWAY_KEY: enrolled.key, GATEWAY_AGENT: agentId }),
  )
  note('a Python program starts, with a key of its own', 'may read, draft, send, inbox')
  return {
    identity,
    policyId: policy.policy_id,
    program,
    async stop() {
      await running[Symbol.asyncDispose]()
    },
    async restart() {
      running = await start()
    },
    async capsule({ threadId }) {
      const capsule = await program.result<CollectedCapsule['capsule']>('capsule', { thread_id: threadId })
      return { capsule }
    },
    async deskLink() {
      const person = { name: 'Ida Berg', roles: ['reader', 'planner'] } as const
      const { link } = await addPerson(running.db, now(), person, { kind: 'command', id: 'demo' })
      return `${config.publicUrl}/enter?link=${link}`
    },
  }
}

interface Enrolment {
  readonly exchange: DemoExchange
  readonly identity: Identity
  readonly policy: object
}

/** What an administrator does by `aex gateway agent add`, `policy add` and `system add`. */
async function enroll(
  config: Parameters<typeof openGateway>[0],
  { exchange, identity: { organizationId, agentId }, policy }: Enrolment,
): Promise<{ readonly key: string; readonly fingerprint: string }> {
  await exchange.operate('/organizations', { organization_id: organizationId, name: LANE_NAMES.supplier })
  const { invitation } = await exchange.operate('/invitations', { organization_id: organizationId })
  await using gateway = await openGateway(config)
  const registration = {
    implementation: 'aex gateway',
    implementationVersion: '1',
    skillVersions: { [SKILL.id]: SKILL.version },
  }
  const { fingerprint } = await addAgent(gateway, { invitation: String(invitation), agentId, registration })
  await putPolicy(gateway.db, agentId, JSON.stringify(policy))
  const verbs = ['read', 'draft', 'send', 'inbox'] as const
  const { key } = await addSystem(gateway.db, { name: 'demo program', agents: [agentId], verbs })
  return { key, fingerprint }
}
