import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { World } from '@agent-exchange/testkit'
import { provision } from '../agents.fixture.ts'
import { randomId } from '../connection/random-id.ts'
import { createAgentFolder, setExchangeAccess } from './agent-folder.ts'
import { connectFolder, type FolderAgent, type FolderOptions } from './connect-folder.ts'

/** Fast to derive: tests unlock often. */
export const QUICK = { n: 1_024, r: 8, p: 1 } as const

/** A registered agent of its own organization in a temporary folder, which is removed with it. */
export async function folderAgent(
  world: World,
  name: string,
  options: FolderOptions = {},
): Promise<FolderAgent & { readonly path: string }> {
  const path = join(mkdtempSync(join(tmpdir(), 'aex-folder-')), 'agent')
  const identity = { organizationId: randomId(`org_${name}`), agentId: randomId(`agent_${name}`) }
  const { made } = await createAgentFolder(path, { identity })
  await provision(world, '/organizations', { organization_id: identity.organizationId, name })
  const client = await provision(world, '/clients', {
    organization_id: identity.organizationId,
    public_jwk: made.client.publicJwk,
  })
  await setExchangeAccess(path, { baseUrl: world.url, clientId: String(client['client_id']) })
  const now = () => new Date(world.clock.now())
  const agent = await connectFolder(path, { now, ...options })
  await agent.register({
    implementation: 'sdk-test',
    implementationVersion: '1.0.0',
    skillVersions: { skill_alignment: '1.0.0' },
  })
  return {
    ...agent,
    path,
    async [Symbol.asyncDispose]() {
      await agent[Symbol.asyncDispose]()
      rmSync(join(path, '..'), { recursive: true, force: true })
    },
  }
}
