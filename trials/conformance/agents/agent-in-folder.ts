import { ExchangeError } from '@agent-exchange/sdk'
import {
  connectFolder,
  createAgentFolder,
  setExchangeAccess,
  type FolderAgent,
} from '@agent-exchange/sdk/node'
import type { Values } from './answer-lines.ts'

/** Answers `create`: a new agent in the folder, with its client key. */
export async function createInFolder(
  folder: string,
  { base_url = '', client_id = '', organization_id = '', agent_id = '' }: Values,
) {
  const identity = { organizationId: organization_id, agentId: agent_id }
  const { made } = await createAgentFolder(folder, { identity })
  await setExchangeAccess(folder, { baseUrl: base_url, clientId: client_id })
  return { client_jwk: made.client.publicJwk }
}

/** Answers `register`. */
export async function registerFromFolder(folder: string, implementation: string) {
  await using agent = await connectFolder(folder)
  await agent.register({
    implementation,
    implementationVersion: '1.0.0',
    skillVersions: { skill_conformance: '1.0.0' },
  })
  return {}
}

/** Answers `open`: the object, or the code of the refusal. */
export async function openPackage(agent: Pick<FolderAgent, 'open'>, packageId: string) {
  try {
    const { object } = await agent.open(packageId)
    return { opened: true, object }
  } catch (error) {
    if (error instanceof ExchangeError) return { opened: false, reason: error.code }
    throw error
  }
}
