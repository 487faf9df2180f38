import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { importPublicJwk, jwkThumbprint, parseStrictJson } from '@agent-exchange/crypto'
import { agentId, organizationId, shapeValidator, validatorOf, type Shape } from '@agent-exchange/protocol'
import { Type } from 'typebox'
import { makeAgentKeys, type AgentKeys } from '../agent-keys/make-keys.ts'
import type { Identity } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import type { KeyStore } from '../keys/key-store.ts'
import { isIntroducedBy } from '../peers/key-introduction.ts'
import type { PinStore } from '../peers/peer-directory.ts'
import { openFileKeyStore, type FileKeyStoreOptions } from './file-key-store.ts'
import { withFileLock } from './file-lock.ts'
import { openFilePinStore } from './file-pin-store.ts'
import { placeStateOf, recordPlace } from './folder-place.ts'
import { requireNotMoved } from './moved-folder.ts'
import { readPrivateFile, writePrivateFile } from './private-file.ts'
import { requirePrivateFolder } from './private-folder.ts'

/** Names of what an agent's folder holds. */
export const AGENT_FILES = {
  description: 'agent.json',
  keys: 'keys.json',
  clientPublicKey: 'client-public-key.json',
  pins: 'pins.json',
  outbox: 'outbox.db',
  inbox: 'inbox.db',
  /** The last checkpoint of the transparency log. */
  log: 'log.json',
  /** How far the monitor has scanned the log. */
  monitor: 'monitor.json',
  /** What the exchange publishes about its behaviour. */
  deployment: 'deployment.json',
  /** Log keys and witnesses that the agent trusts (C2SP tlog-policy); optional. */
  logPolicy: 'log-policy.txt',
  /** Policy and skill for calls that name none, and what the agent trusts. */
  settings: 'settings.json',
  gitignore: '.gitignore',
  /** Settings of the data-space connector, its key among them. */
  connector: 'connector.json',
  /** What the data address serves. */
  outgoing: 'outgoing',
  /** Drafts that are not sent yet, and records of sent ones with their approvals. */
  drafts: 'drafts',
  /** The approver's public key, and its private key encrypted by the approver passphrase. */
  approver: 'approver.json',
  /** Address of the running desk. */
  desk: 'desk.json',
  /** Device and inode of the folder, which tell a copy from the original. */
  place: 'place.json',
  /** Where the agent moved to; a folder that has this file is retired. */
  moved: 'moved.json',
  /** Locked by whatever uses the folder. */
  use: 'use.lock',
} as const

const FORMAT = 'aex-agent'
const VERSION = 1
const OWNER_ONLY_FOLDER = 0o700
const OWNER_ONLY = 0o600

/** Where the exchange is and as which client the agent comes; unknown until the operator has let it in. */
export interface ExchangeAccess {
  readonly baseUrl?: string
  readonly clientId?: string
}

/** An agent with everything it keeps, in one folder. */
export interface AgentFolder extends ExchangeAccess {
  readonly folder: string
  readonly identity: Identity
  readonly keys: KeyStore
  readonly pins: PinStore
  /** Paths, by what they hold. */
  readonly files: Readonly<Record<keyof typeof AGENT_FILES, string>>
}

export interface NewAgentFolder extends ExchangeAccess, FileKeyStoreOptions {
  readonly identity: Identity
  readonly now?: () => Date
}

const text = Type.String({ minLength: 1 })
const descriptionFile = Type.Object(
  {
    format: Type.Literal(FORMAT),
    version: Type.Literal(VERSION),
    organization_id: text,
    agent_id: text,
    base_url: Type.Optional(text),
    client_id: Type.Optional(text),
  },
  { additionalProperties: false },
)
type Description = Shape<typeof descriptionFile>
const description = shapeValidator(descriptionFile, 'SDK')

/**
 * Makes an agent: its folder, its three key pairs, and the file with the client's public key that the operator
 * needs. The description is written last, so a folder that was left half made can be made again.
 *
 * @example
 * const agent = await createAgentFolder('./planner', {
 *   identity: { organizationId: 'org_acme', agentId: 'agent_planner' },
 *   passphrase,
 * })
 * console.log('for the operator:', agent.files.clientPublicKey)
 */
export async function createAgentFolder(
  folder: string,
  { identity, now = () => new Date(), baseUrl, clientId, ...store }: NewAgentFolder,
): Promise<AgentFolder & { readonly made: AgentKeys }> {
  requireIdentity(identity)
  const files = filesIn(folder)
  return changing(folder, async () => {
    if (await readPrivateFile(files.description)) {
      await requireNotMoved(files.moved)
      throw new ExchangeError('agent_folder_occupied', { details: { folder } })
    }
    const keys = openFileKeyStore(files.keys, store)
    const made = await makeAgentKeys(keys, { identity, now })
    await requireKeysOf(identity, made, folder)
    await writePrivateFile(files.clientPublicKey, json(made.client.publicJwk))
    await recordPlace(folder, files.place)
    const access = accessOf({ baseUrl, clientId })
    await writePrivateFile(files.description, json(describe(identity, access)))
    return { folder, identity, ...access, keys, pins: openFilePinStore(files.pins), files, made }
  })
}

/**
 * Opens an agent that was made before.
 *
 * @example
 * const { identity, keys, pins, baseUrl, clientId } = await openAgentFolder('./planner', { passphrase })
 */
export async function openAgentFolder(folder: string, store: FileKeyStoreOptions = {}): Promise<AgentFolder> {
  const files = filesIn(folder)
  await requireUnexposed(folder)
  const described = await readDescription(folder)
  const identity = { organizationId: described.organization_id, agentId: described.agent_id }
  return {
    folder,
    identity,
    ...accessOf({ baseUrl: described.base_url, clientId: described.client_id }),
    keys: openFileKeyStore(files.keys, store),
    pins: openFilePinStore(files.pins),
    files,
  }
}

/**
 * Remembers where the exchange is and which client id the operator gave.
 *
 * @example
 * await setExchangeAccess('./planner', { baseUrl: 'https://exchange.example', clientId: 'client_1' })
 */
export async function setExchangeAccess(folder: string, access: ExchangeAccess): Promise<void> {
  const file = filesIn(folder).description
  await readDescription(folder)
  await changing(folder, async () => {
    const before = await readDescription(folder)
    const identity = { organizationId: before.organization_id, agentId: before.agent_id }
    const known = accessOf({ baseUrl: before.base_url, clientId: before.client_id })
    await writePrivateFile(file, json(describe(identity, { ...known, ...access })))
  })
}

/**
 * Refuses a copy of a folder: both would receive and handle every event. A folder of an earlier version gets its place
 * recorded.
 */
export async function requireOriginal(folder: string): Promise<void> {
  const file = filesIn(folder).place
  const state = await placeStateOf(folder, file)
  if (state === 'copied') throw new ExchangeError('agent_folder_copied', { details: { folder } })
  if (state === 'unrecorded') await changing(folder, () => recordPlace(folder, file))
}

/**
 * Makes a copied, moved or restored folder the agent's own from now on. The original must not run any more. Returns
 * whether that was needed.
 *
 * @example
 * await adoptAgentFolder('./restored-planner')
 */
export async function adoptAgentFolder(folder: string): Promise<boolean> {
  await readDescription(folder)
  const file = filesIn(folder).place
  return changing(folder, async () => {
    if ((await placeStateOf(folder, file)) === 'same') return false
    await recordPlace(folder, file)
    return true
  })
}

/** One at a time, in a folder that is made if need be. */
async function changing<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    await mkdir(folder, { recursive: true, mode: OWNER_ONLY_FOLDER })
    await requireUnexposed(folder)
    await keepFromGit(folder)
    return await withFileLock(`${filesIn(folder).description}.lock`, work)
  } catch (cause) {
    if (cause instanceof ExchangeError) throw cause
    throw new ExchangeError('input_invalid', { what: `${folder} cannot be written.`, cause })
  }
}

/** Keys, content and pins do not belong in a repository. A file that is there already is left as it is. */
export async function keepFromGit(folder: string): Promise<void> {
  const file = filesIn(folder).gitignore
  await writeFile(file, '*\n', { flag: 'wx', mode: OWNER_ONLY }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
}

/** Journals and locks lie beside their files, under longer names. */
function requireUnexposed(folder: string): Promise<void> {
  return requirePrivateFolder(folder, Object.values(AGENT_FILES))
}

async function readDescription(folder: string): Promise<Description> {
  await requireNotMoved(filesIn(folder).moved)
  const unreadable = (cause?: unknown) =>
    new ExchangeError('agent_folder_unreadable', { details: { folder }, cause })
  const found = await readPrivateFile(filesIn(folder).description).catch((cause: unknown) => {
    throw unreadable(cause)
  })
  if (!found) throw new ExchangeError('agent_folder_missing', { details: { folder } })
  try {
    const content: unknown = parseStrictJson(found.text)
    if (description.accepts(content)) return content
  } catch (cause) {
    throw unreadable(cause)
  }
  throw unreadable()
}

/** Keys that an unfinished attempt left behind are used, unless it was for another agent. */
async function requireKeysOf(
  identity: Identity,
  { signing, encryption }: AgentKeys,
  folder: string,
): Promise<void> {
  const introducer = await importPublicJwk(signing.publicJwk, { use: 'signing' })
  const thumbprint = await jwkThumbprint(encryption.publicJwk)
  const about = { ...identity, use: 'encryption' as const, thumbprint }
  if (await isIntroducedBy(introducer, encryption.keyId, about)) return
  const what = 'The folder holds the keys of another agent.'
  throw new ExchangeError('agent_folder_occupied', { what, details: { folder } })
}

function requireIdentity(identity: Identity): void {
  if (!validatorOf(organizationId).accepts(identity.organizationId)) {
    throw new ExchangeError('input_invalid', { what: 'An organization id starts with "org_".' })
  }
  if (!validatorOf(agentId).accepts(identity.agentId)) {
    throw new ExchangeError('input_invalid', { what: 'An agent id starts with "agent_".' })
  }
}

function describe(identity: Identity, { baseUrl, clientId }: ExchangeAccess): Description {
  return {
    format: FORMAT,
    version: VERSION,
    organization_id: identity.organizationId,
    agent_id: identity.agentId,
    ...(baseUrl !== undefined && { base_url: baseUrl }),
    ...(clientId !== undefined && { client_id: clientId }),
  }
}

function accessOf(given: { baseUrl: string | undefined; clientId: string | undefined }): ExchangeAccess {
  const { baseUrl, clientId } = given
  return { ...(baseUrl !== undefined && { baseUrl }), ...(clientId !== undefined && { clientId }) }
}

export function filesIn(folder: string): AgentFolder['files'] {
  return {
    description: join(folder, AGENT_FILES.description),
    keys: join(folder, AGENT_FILES.keys),
    clientPublicKey: join(folder, AGENT_FILES.clientPublicKey),
    pins: join(folder, AGENT_FILES.pins),
    outbox: join(folder, AGENT_FILES.outbox),
    inbox: join(folder, AGENT_FILES.inbox),
    log: join(folder, AGENT_FILES.log),
    monitor: join(folder, AGENT_FILES.monitor),
    deployment: join(folder, AGENT_FILES.deployment),
    logPolicy: join(folder, AGENT_FILES.logPolicy),
    settings: join(folder, AGENT_FILES.settings),
    gitignore: join(folder, AGENT_FILES.gitignore),
    connector: join(folder, AGENT_FILES.connector),
    outgoing: join(folder, AGENT_FILES.outgoing),
    drafts: join(folder, AGENT_FILES.drafts),
    approver: join(folder, AGENT_FILES.approver),
    desk: join(folder, AGENT_FILES.desk),
    place: join(folder, AGENT_FILES.place),
    moved: join(folder, AGENT_FILES.moved),
    use: join(folder, AGENT_FILES.use),
  }
}

function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`
}
