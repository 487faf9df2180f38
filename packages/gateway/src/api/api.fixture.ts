import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AddressInfo } from 'node:net'
import type { Database } from '@agent-exchange/database'
import type { PolicyEnvelope } from '@agent-exchange/protocol'
import { newObject } from '@agent-exchange/sdk/internal'
import { connectFolder, createAgentFolder, setExchangeAccess } from '@agent-exchange/sdk/node'
import { systemClock } from '@agent-exchange/server/clock'
import { issuerKeys } from '@agent-exchange/server/issuer'
import { QUICK_LOG, startWorld, type World } from '@agent-exchange/testkit'
import type { HostedAgent } from '../agents/hosted-agent.ts'
import { recordAuthor } from '../approvals/draft-authors.ts'
import { startIdentityProvider } from '../mcp/identity-provider.fixture.ts'
import { putPolicy } from '../policies/agent-policies.ts'
import { gatewayDatabase, testBox } from '../stores/gateway-database.fixture.ts'
import { addSystem } from '../systems/api-keys.ts'
import { VERBS, type Verb } from '../systems/verbs.ts'
import { openApi } from './open-api.ts'
import type { ContentStore } from '../content/content-store.ts'
import { testContents } from '../content/contents.fixture.ts'
import { openLeaseWaiters } from '../inbox/lease-waiters.ts'

const TOKEN_AUDIENCE = 'https://gateway.example/api'
const SKILL = { id: 'skill_alignment', version: '1.0.0' }

export interface ApiAnswer {
  readonly status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read whatever members an answer has
  readonly body: Record<string, any>
  readonly headers: Headers
}

/** A gateway's API in front of real agents and a real exchange. */
export async function startApi() {
  await using stack = new AsyncDisposableStack()
  const world = stack.use(await startWorld({ profile: QUICK_LOG, config: { role: 'all' } }))
  const { db, agentNamed } = stack.use(await gatewayDatabase())
  const contents = testContents(db)
  const hosted: HostedAgent[] = []
  for (const [name, organization] of [
    ['acme', 'acme'],
    ['bolt', 'bolt'],
    // Another agent of the same organization.
    ['colleague', 'acme'],
  ] as const) {
    await agentNamed(`agent_${name}`)
    hosted.push(stack.use(await hostAgent(world, { db, contents }, { name, organization })))
  }
  const provider = stack.use(await startIdentityProvider(() => new Date()))
  const logged: string[] = []
  const write = (fields: object, message: string) => void logged.push(JSON.stringify({ ...fields, message }))
  const { app, tasks } = stack.use(
    await openApi({
      db,
      box: testBox(),
      agents: { list: () => hosted, find: (agentId) => hosted.find((each) => each.agentId === agentId) },
      contents,
      leases: await openLeaseWaiters({ db, contents }),
      // Its limits per minute do not refill, however slow the machine is.
      clock: { ...systemClock, monotonicMilliseconds: () => 0 },
      publicUrl: 'http://gateway.example',
      log: { info: write, error: write },
      tokens: { source: issuerKeys(provider.issuer, systemClock), audience: TOKEN_AUDIENCE },
    }),
  )
  await app.listen({ host: '127.0.0.1', port: 0 })
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  const owned = stack.move()

  return {
    db,
    url,
    world,
    contents,
    logged,
    /** Runs the periodic tasks once. */
    tidy: () => Promise.all(tasks.map((task) => task.run(AbortSignal.timeout(10_000)))),
    agents: hosted,
    /** An access token of the company's identity provider, for the audience of the API. */
    token: (scope: string, claims: object = {}) => provider.token(TOKEN_AUDIENCE, scope, claims),
    provider,
    async key(agents: readonly string[] = ['*'], verbs: readonly Verb[] = VERBS): Promise<string> {
      return (await addSystem(db, { name: 'test', agents, verbs })).key
    },
    /** Gives an agent a policy, as an administrator does. */
    policy: (name: string, to: string, change = (made: PolicyEnvelope) => made) => {
      const agentId = `agent_${name}`
      const { organizationId = '' } = hosted.find((each) => each.agentId === agentId) ?? {}
      const by = { organizationId, agentId }
      const made = newObject('policy_envelope', {
        by,
        to: `org_${to}`,
        now: new Date(),
        policyId: 'pol_free',
      })
      return putPolicy(db, by.agentId, JSON.stringify(change(made)))
    },
    async call(
      key: string | undefined,
      method: 'GET' | 'POST',
      path: string,
      body?: object,
      headers: Record<string, string> = {},
    ): Promise<ApiAnswer> {
      const response = await fetch(`${url}/api/v1${path}`, {
        method,
        headers: {
          ...(key !== undefined && { authorization: `Bearer ${key}` }),
          ...(body && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body && { body: JSON.stringify(body) }),
      })
      return {
        status: response.status,
        body: (await response.json()) as ApiAnswer['body'],
        headers: response.headers,
      }
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

async function hostAgent(
  world: World,
  { db, contents }: { readonly db: Database; readonly contents: Pick<ContentStore, 'put'> },
  { name, organization }: { name: string; organization: string },
): Promise<HostedAgent & AsyncDisposable> {
  const dir = mkdtempSync(join(tmpdir(), `aex-gateway-${name}-`))
  const identity = { organizationId: `org_${organization}`, agentId: `agent_${name}` }
  await createAgentFolder(dir, { identity })
  if (name === organization)
    await world.operate('POST', '/organizations', { organization_id: identity.organizationId, name })
  const { body } = await world.operate('POST', '/clients', {
    organization_id: identity.organizationId,
    public_jwk: JSON.parse(readFileSync(join(dir, 'client-public-key.json'), 'utf8')) as object,
  })
  await setExchangeAccess(dir, { baseUrl: world.url, clientId: String(body['client_id']) })
  const agent = await connectFolder(dir, { defaults: { skill: SKILL } })
  await agent.register({
    implementation: 'gateway-test',
    implementationVersion: '1.0.0',
    skillVersions: { [SKILL.id]: SKILL.version },
  })
  // The drafts of a folder have no transaction to share.
  const drafts: typeof agent.drafts = {
    ...agent.drafts,
    async send(draftId, options) {
      const { packageId, threadId, object, policy } = await agent.drafts.get(draftId)
      const sent = await agent.drafts.send(draftId, options)
      const provenance = { policy_id: policy.policy_id }
      const copy = { packageId, threadId, object, direction: 'sent', provenance } as const
      await db.begin((tx) => contents.put(tx, { ...copy, agentId: identity.agentId }))
      return sent
    },
  }
  return {
    ...identity,
    agent,
    drafts,
    draftsBy: (author) => ({
      ...drafts,
      async create(input) {
        const draft = await agent.drafts.create(input)
        const { draftId } = draft
        await db.begin((tx) => recordAuthor(tx, { agentId: identity.agentId, draftId, author }))
        return draft
      },
    }),
    outbox: agent.outbox,
    async [Symbol.asyncDispose]() {
      await agent[Symbol.asyncDispose]()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** Content of a reasoning package: what a system writes. */
export const reasoning = (summary: string): Record<string, unknown> => ({
  package_type: 'demand_change_reasoning',
  business_context: {
    domain: 'supply',
    use_case: 'demand_change',
    time_horizon: 'weeks 12 to 14',
    affected_scope: {},
  },
  facts: [
    { fact_id: 'fact_1', statement: 'A coil moved.', evidence_refs: ['ev_1'], sensitivity: 'confidential' },
  ],
  reasoning: { summary, drivers: ['a late delivery'], known_unknowns: [] },
  confidence: { score: 0.7, basis: 'the carrier confirmed it' },
  intent: { sender_action: 'We ship in week 13.', recipient_request: 'Accept week 13?' },
  response_required: {
    required: true,
    deadline: new Date(Date.now() + 86_400_000).toISOString(),
    expected_response_types: ['agree', 'challenge'],
  },
})
