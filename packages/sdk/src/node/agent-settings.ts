import { parseStrictJson } from '@agent-exchange/crypto'
import { validateObject, validatorFor, type PolicyEnvelope } from '@agent-exchange/protocol'
import { ExchangeError } from '../errors.ts'
import type { SendDefaults } from '../send-defaults.ts'
import { withFileLock } from './file-lock.ts'
import { readPrivateFile, writePrivateFile } from './private-file.ts'

const FORMAT = 'aex-agent-settings'
const VERSION = 1

interface Settings {
  readonly format: typeof FORMAT
  readonly version: typeof VERSION
  readonly policy?: PolicyEnvelope
  readonly skill?: { readonly id: string; readonly version: string }
}

const text = { type: 'string', minLength: 1 }
const settings = validatorFor<Settings>(
  {
    type: 'object',
    additionalProperties: false,
    required: ['format', 'version'],
    properties: {
      format: { const: FORMAT },
      version: { const: VERSION },
      policy: { type: 'object' },
      skill: {
        type: 'object',
        additionalProperties: false,
        required: ['id', 'version'],
        properties: { id: text, version: text },
      },
    },
  },
  'SDK',
)

/** Policy and skill that the folder holds for calls that name none. */
export async function readAgentDefaults(file: string): Promise<SendDefaults> {
  const found = await readPrivateFile(file)
  if (!found) return {}
  const content = parsed(found.text, file)
  if (!settings.accepts(content)) throw unreadable(file)
  const { policy, skill } = content
  if (policy) requirePolicy(policy)
  return { ...(policy && { policy }), ...(skill && { skill }) }
}

/**
 * Changes the defaults of the folder. What is not given stays as it is.
 *
 * @example
 * const { files } = await openAgentFolder('./planner')
 * await setAgentDefaults(files.settings, { policy, skill: { id: 'skill_alignment', version: '1.0.0' } })
 */
export async function setAgentDefaults(file: string, change: SendDefaults): Promise<SendDefaults> {
  if (change.policy) requirePolicy(change.policy)
  return withFileLock(`${file}.lock`, async () => {
    const defaults = { ...(await readAgentDefaults(file)), ...change }
    const content: Settings = { format: FORMAT, version: VERSION, ...defaults }
    await writePrivateFile(file, `${JSON.stringify(content, undefined, 2)}\n`)
    return defaults
  })
}

function requirePolicy(policy: PolicyEnvelope): void {
  const { failures } = validateObject(policy)
  if (failures.length > 0 || policy.object_type !== 'policy_envelope')
    throw new ExchangeError('object_invalid', {
      what: 'The default policy is not a policy_envelope.',
      failures,
    })
}

function parsed(content: string, file: string): unknown {
  try {
    return parseStrictJson(content)
  } catch (cause) {
    throw unreadable(file, cause)
  }
}

function unreadable(file: string, cause?: unknown): ExchangeError {
  return new ExchangeError('agent_folder_unreadable', {
    what: 'The settings of the agent cannot be read.',
    details: { file },
    ...(cause !== undefined && { cause }),
  })
}
