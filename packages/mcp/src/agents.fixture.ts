import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PolicyEnvelope } from '@agent-exchange/protocol'
import { newObject } from '@agent-exchange/sdk/internal'
import {
  connectFolder,
  createAgentFolder,
  setExchangeAccess,
  type FolderAgent,
} from '@agent-exchange/sdk/node'
import type { World } from '@agent-exchange/testkit'
import { folderMcpAgent } from './folder-mcp-agent.ts'
import type { CallReport, McpSession } from './session.ts'

export const SKILL = { id: 'skill_alignment', version: '1.0.0' } as const

/** An agent in a folder, registered, with a policies folder. */
export interface TestAgent extends AsyncDisposable {
  readonly agent: FolderAgent
  readonly dir: string
  readonly session: McpSession
  /** Calls that the session reported. */
  readonly calls: CallReport[]
  /** Writes a policy that a person of the company decided on. */
  policy(name: string, change?: (policy: PolicyEnvelope) => PolicyEnvelope): PolicyEnvelope
}

export async function startFolderAgent(
  world: World,
  name: string,
  partner: string,
  dir: string = mkdtempSync(join(tmpdir(), `aex-mcp-${name}-`)),
): Promise<TestAgent> {
  const identity = { organizationId: `org_${name}`, agentId: `agent_${name}` }
  await createAgentFolder(dir, { identity })
  await world.operate('POST', '/organizations', { organization_id: identity.organizationId, name })
  const { body } = await world.operate('POST', '/clients', {
    organization_id: identity.organizationId,
    public_jwk: JSON.parse(readFileSync(join(dir, 'client-public-key.json'), 'utf8')) as object,
  })
  await setExchangeAccess(dir, { baseUrl: world.url, clientId: String(body['client_id']) })
  const agent = await connectFolder(dir)
  await agent.register({
    implementation: 'mcp-test',
    implementationVersion: '1.0.0',
    skillVersions: { [SKILL.id]: SKILL.version },
  })
  const policies = join(dir, 'policies')
  mkdirSync(policies)
  const calls: CallReport[] = []
  const session: McpSession = {
    agent: folderMcpAgent(agent, { policies, now: () => new Date() }),
    version: '0.0.0',
    skill: SKILL,
    deskCommand: `aex agent desk --dir ${dir}`,
    approverCommand: `aex agent approver init --dir ${dir}`,
    now: () => new Date(),
    onCall: (report) => void calls.push(report),
  }
  return {
    agent,
    dir,
    session,
    calls,
    policy(file, change = (made) => made) {
      const terms = { by: identity, to: `org_${partner}`, now: new Date() }
      const made = change(newObject('policy_envelope', { ...terms, policyId: `pol_${file}` }))
      writeFileSync(join(policies, `${file}.json`), JSON.stringify(made), { mode: 0o600 })
      return made
    },
    async [Symbol.asyncDispose]() {
      await agent[Symbol.asyncDispose]()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
