import { parseStrictJson } from '@agent-exchange/crypto'
import { addressBookFault, type AddressBook } from '@agent-exchange/log'
import {
  createTrust,
  validateObject,
  shapeValidator,
  type PolicyEnvelope,
  type TrustOverrides,
} from '@agent-exchange/protocol'
import { Type, type Static } from 'typebox'
import { ExchangeError } from '../errors.ts'
import type { SendDefaults } from '../send/send-defaults.ts'
import { withFileLock } from './file-lock.ts'
import { readPrivateFile, writePrivateFile } from './private-file.ts'

const FORMAT = 'aex-agent-settings'
const VERSION = 1

const text = Type.String({ minLength: 1 })
const CLOSED = { additionalProperties: false }
const settingsFile = Type.Object(
  {
    format: Type.Literal(FORMAT),
    version: Type.Literal(VERSION),
    policy: Type.Optional(Type.Unsafe<PolicyEnvelope>({ type: 'object' })),
    skill: Type.Optional(Type.Object({ id: text, version: text }, CLOSED)),
    trust: Type.Optional(Type.Unsafe<TrustOverrides>({ type: 'object' })),
    names: Type.Optional(Type.Unsafe<AddressBook>({ type: 'object' })),
  },
  CLOSED,
)
type Settings = Static<typeof settingsFile>
const settings = shapeValidator(settingsFile, 'SDK')

type Kept = Omit<Settings, 'format' | 'version'>

async function readSettings(file: string): Promise<Kept> {
  const found = await readPrivateFile(file)
  if (!found) return {}
  const content = parsed(found.text, file)
  if (!settings.accepts(content)) throw unreadable(file)
  const { format: _, version: __, ...kept } = content
  return kept
}

async function change(file: string, next: (kept: Kept) => Kept): Promise<void> {
  await withFileLock(`${file}.lock`, async () => {
    const content: Settings = { format: FORMAT, version: VERSION, ...next(await readSettings(file)) }
    await writePrivateFile(file, `${JSON.stringify(content, undefined, 2)}\n`)
  })
}

/** Policy and skill that the folder holds for calls that name none. */
export async function readAgentDefaults(file: string): Promise<SendDefaults> {
  const { policy, skill } = await readSettings(file)
  if (policy) requirePolicy(policy)
  return { ...(policy && { policy }), ...(skill && { skill }) }
}

/** What the agent of the folder trusts, where it differs from the defaults (O-17, O-22, O-35, O-46, O-47). */
export async function readAgentTrust(file: string): Promise<TrustOverrides> {
  return (await readSettings(file)).trust ?? {}
}

/**
 * Replaces what the agent of the folder trusts.
 *
 * @example
 * const { files } = await openAgentFolder('./planner')
 * await setAgentTrust(files.settings, { 'O-47': { verifying: 'strict' } })
 */
export async function setAgentTrust(file: string, trust: TrustOverrides): Promise<void> {
  const created = createTrust(trust)
  if (!created.ok)
    throw new ExchangeError('input_invalid', {
      what: 'The trust settings are invalid.',
      failures: created.failures,
    })
  await change(file, (kept) => ({ ...kept, trust }))
}

/**
 * Changes the defaults of the folder. What is not given stays as it is.
 *
 * @example
 * const { files } = await openAgentFolder('./planner')
 * await setAgentDefaults(files.settings, { policy, skill: { id: 'skill_alignment', version: '1.0.0' } })
 */
export async function setAgentDefaults(file: string, defaults: SendDefaults): Promise<SendDefaults> {
  if (defaults.policy) requirePolicy(defaults.policy)
  await change(file, (kept) => ({ ...kept, ...defaults }))
  return readAgentDefaults(file)
}

/** Names that the owner of the folder gave to organizations. */
export async function readAddressBook(file: string): Promise<AddressBook> {
  const { names = {} } = await readSettings(file)
  requireNames(names)
  return names
}

/**
 * Gives an organization a name for whoever reads verdicts with this folder; undefined removes it.
 *
 * @example
 * const { files } = await openAgentFolder('./planner')
 * await setOrganizationName(files.settings, 'org_cars', 'Cars Ltd')
 */
export async function setOrganizationName(
  file: string,
  organizationId: string,
  name: string | undefined,
): Promise<AddressBook> {
  await change(file, (kept) => {
    const { [organizationId]: _, ...others } = kept.names ?? {}
    const names = name === undefined ? others : { ...others, [organizationId]: name }
    requireNames(names)
    return { ...kept, names }
  })
  return readAddressBook(file)
}

function requireNames(names: unknown): void {
  const what = addressBookFault(names)
  if (what !== undefined) throw new ExchangeError('input_invalid', { what })
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
