import { isStorable } from '../../kernel/bounds.ts'
import type { Read } from '../../kernel/call.ts'
import { Problem } from '../../kernel/problem.ts'
import { readDirectory } from './key-store.ts'
import { toPublicKey } from './resources.ts'

/** ID-07. Retiring and revoked keys stay listed, for later verification. Every key event changes the version. */
export const getAgentKeys: Read<'getAgentKeys'> = async ({ params, now }, db) => {
  const agentId = params.agent_id
  const directory = isStorable(agentId) ? await readDirectory(db, agentId) : undefined
  if (!directory) throw new Problem('resource_not_found')
  return {
    directory_version: String(directory.changes),
    generated_at: now,
    organization_id: directory.organizationId,
    agent_id: agentId,
    keys: directory.keys.map(toPublicKey),
  }
}
