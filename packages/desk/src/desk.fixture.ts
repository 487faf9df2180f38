import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { initApprover } from '@agent-exchange/sdk/internal/node'
import {
  connectFolder,
  createAgentFolder,
  setExchangeAccess,
  type FolderAgent,
} from '@agent-exchange/sdk/node'
import { newObject } from '@agent-exchange/sdk/internal'
import type { StoredDraft } from '@agent-exchange/sdk'
import type { World } from '@agent-exchange/testkit'
import { provision } from '../../sdk/src/agents.fixture.ts'
import { startDesk, type Desk } from './desk-server.ts'

export const PASSPHRASE = 'correct horse battery staple'
export const SKILL = { id: 'skill_alignment', version: '1.0.0' }

/** An agent with an approver and a desk. */
export interface DeskSide {
  readonly agent: FolderAgent
  readonly desk: Desk
  readonly folder: string
}

export interface TwoDesks extends AsyncDisposable {
  readonly acme: DeskSide
  readonly bolt: DeskSide
}

/** Two companies on one exchange, each with a desk. */
export async function startTwoDesks(world: World): Promise<TwoDesks> {
  await using stack = new AsyncDisposableStack()
  const folders = mkdtempSync(join(tmpdir(), 'aex-desk-'))
  stack.defer(() => rmSync(folders, { recursive: true, force: true }))
  const side = async (name: string): Promise<DeskSide> => {
    const folder = join(folders, name)
    const agent = stack.use(await registeredAgent(world, name, folder))
    await initApprover(folder, { passphrase: PASSPHRASE, cost: { n: 1_024, r: 8, p: 1 } })
    return { agent, folder, desk: stack.use(await startDesk(agent, { port: 0 })) }
  }
  const sides = { acme: await side('acme'), bolt: await side('bolt') }
  const open = stack.move()
  return { ...sides, [Symbol.asyncDispose]: () => open.disposeAsync() }
}

async function registeredAgent(world: World, name: string, folder: string): Promise<FolderAgent> {
  const identity = { organizationId: `org_${name}`, agentId: `agent_${name}` }
  const { made } = await createAgentFolder(folder, { identity })
  await provision(world, '/organizations', { organization_id: identity.organizationId, name })
  const client = { organization_id: identity.organizationId, public_jwk: made.client.publicJwk }
  const { client_id } = await provision(world, '/clients', client)
  await setExchangeAccess(folder, { baseUrl: world.url, clientId: String(client_id) })
  const agent = await connectFolder(folder)
  const skillVersions = { [SKILL.id]: SKILL.version }
  await agent.register({ implementation: 'desk-test', implementationVersion: '1.0.0', skillVersions })
  return agent
}

/** A draft of one side for the other, under a policy that requires a person. */
export function guardedDraft(
  { agent }: DeskSide,
  to: DeskSide,
  summary = 'Rails for two seat variants will be short in week 12.',
  change: { readonly skill?: typeof SKILL; readonly purpose?: string } = {},
): Promise<StoredDraft> {
  const terms = { by: agent.identity, to: to.agent.identity.organizationId, now: new Date() }
  const human_approval = { required: true, approval_id: 'approval_1' }
  const policy = { ...newObject('policy_envelope', terms), human_approval }
  const made = newObject('reasoning_package', { ...terms, policyId: policy.policy_id })
  const { skill = SKILL, purpose = made.policy_envelope.purpose } = change
  const policy_envelope = { ...made.policy_envelope, purpose }
  const object = { ...made, policy_envelope, reasoning: { ...made.reasoning, summary } }
  return agent.drafts.create({ object, policy, to: to.agent.identity, skill })
}
