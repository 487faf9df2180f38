import { addSystem, putPolicy } from '@agent-exchange/gateway'
import { MemoryInbox } from '@agent-exchange/sdk'
import { newObject } from '@agent-exchange/sdk/internal'
import { QUICK_LOG } from '@agent-exchange/testkit'
import { SKILL, startCompanies } from '../../packages/gateway/src/startup/two-instances.fixture.ts'

const POLL_MS = 100

/** A gateway with one agent, and a partner on the SDK that answers each package. */
export interface OutsideGateway extends AsyncDisposable {
  readonly url: string
  /** API key of a program that may read, draft, send and use the inbox. */
  readonly key: string
  readonly agentId: string
  readonly partnerId: string
  readonly policyId: string
}

export async function startOutsideGateway(): Promise<OutsideGateway> {
  const cleanup = new AsyncDisposableStack()
  await using undo = cleanup
  const companies = cleanup.use(await startCompanies({ profile: QUICK_LOG, config: { role: 'all' } }))
  const agentId = await companies.addAgent('acme')
  const gateway = cleanup.use(await companies.startInstance())
  const { partner } = companies
  const now = new Date(companies.world.clock.now())
  const own = { by: { organizationId: 'org_acme', agentId }, to: partner.identity.organizationId, now }
  const policy = newObject('policy_envelope', own)
  await putPolicy(gateway.db, agentId, JSON.stringify(policy))
  const verbs = ['read', 'draft', 'send', 'inbox'] as const
  const { key } = await addSystem(gateway.db, { name: 'generated client', agents: [agentId], verbs })
  const answering = newObject('policy_envelope', { by: partner.identity, to: 'org_acme', now })
  const receiver = cleanup.use(
    partner.onPackage(
      async ({ reply }) =>
        void (await reply({ summary: 'Week 13 is fine.', policy: answering, skill: SKILL })),
      { inbox: new MemoryInbox(), limits: { pollMs: POLL_MS, idleMs: POLL_MS } },
    ),
  )
  await receiver.start()
  const stop = undo.move()
  return {
    url: gateway.urls.api,
    key,
    agentId,
    partnerId: partner.identity.agentId,
    policyId: policy.policy_id,
    [Symbol.asyncDispose]: () => stop.disposeAsync(),
  }
}
