import { open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { parseStrictJson } from '@agent-exchange/crypto'
import { validateObject, type PolicyEnvelope } from '@agent-exchange/protocol'
import { MAXIMUM_POLICIES, MAXIMUM_POLICY_BYTES } from '../mcp-limits.ts'
import { ToolRefusal } from '../server/tool-failure.ts'

const OTHERS_WRITE = 0o022

/**
 * The policies of a folder, by name of their file. A person writes them: a model that could choose its own policy would
 * choose one that needs no person. A folder that does not exist has no policy.
 */
export async function readPolicies(folder: string): Promise<PolicyEnvelope[]> {
  const { mode } = await stat(folder).catch(() => ({ mode: 0 }))
  if (isOpenToOthers(mode))
    throw new ToolRefusal('policy_unreadable', 'Other users can change the folder of policies.')
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw new ToolRefusal('policy_unreadable', 'The folder of policies cannot be read.')
  })
  const files = names.filter((name) => name.endsWith('.json')).toSorted()
  if (files.length > MAXIMUM_POLICIES)
    throw new ToolRefusal('policy_unreadable', `The folder has more than ${MAXIMUM_POLICIES} policies.`)
  const policies = await Promise.all(files.map((name) => readPolicy(join(folder, name), name)))
  const ids = new Set(policies.map(({ policy_id }) => policy_id))
  if (ids.size < policies.length)
    throw new ToolRefusal('policy_unreadable', 'Two files hold a policy with the same policy_id.')
  return policies
}

async function readPolicy(file: string, name: string): Promise<PolicyEnvelope> {
  const refused = (why: string) =>
    new ToolRefusal('policy_unreadable', `The policy file ${JSON.stringify(name)} ${why}`)
  const handle = await open(file, 'r').catch(() => {
    throw refused('cannot be read.')
  })
  try {
    const { mode, size } = await handle.stat()
    if (isOpenToOthers(mode)) throw refused('can be changed by other users.')
    if (size > MAXIMUM_POLICY_BYTES) throw refused(`is larger than ${MAXIMUM_POLICY_BYTES} bytes.`)
    const result = validateObject(parsed(await handle.readFile('utf8')))
    if (result.valid && result.object.object_type === 'policy_envelope') return result.object
    throw refused('is no valid policy_envelope: check it with aex validate.')
  } finally {
    await handle.close()
  }
}

/** Whether other users may change it. Windows has no such bits. */
function isOpenToOthers(mode: number): boolean {
  return process.platform !== 'win32' && (mode & OTHERS_WRITE) !== 0
}

function parsed(text: string): unknown {
  try {
    return parseStrictJson(text)
  } catch {
    return undefined
  }
}

/** The policy that a model chose. */
export function policyNamed(policies: readonly PolicyEnvelope[], policyId: string): PolicyEnvelope {
  const found = policies.find(({ policy_id }) => policy_id === policyId)
  if (found) return found
  const names = policies.map(({ policy_id }) => policy_id).join(', ')
  throw new ToolRefusal(
    'policy_unknown',
    names === ''
      ? 'There is no policy, so nothing can be drafted. A person has to write one.'
      : `There is no such policy. Choose one of ${names}.`,
  )
}
