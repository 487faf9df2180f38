import type { Invitation } from '@agent-exchange/crypto'
import type { AgentResource } from '@agent-exchange/protocol'
import { currentKey } from '../agent-keys/make-keys.ts'
import type { Registration } from '../agent-keys/register-agent.ts'
import type { Fetch } from '../connection/http-transport.ts'
import { randomId } from '../connection/random-id.ts'
import { readInvitation, redeemInvitation } from '../connection/redeem-invitation.ts'
import { ExchangeError } from '../errors.ts'
import { createAgentFolder, openAgentFolder, setExchangeAccess, type AgentFolder } from './agent-folder.ts'
import { connectFolder } from './connect-folder.ts'
import type { FileKeyStoreOptions } from './file-key-store.ts'

export interface JoinOptions extends FileKeyStoreOptions {
  /** The text from the operator of the exchange. */
  readonly invitation: string
  /** Defaults to the agent of the invitation, or else to a new id. */
  readonly agentId?: string
  readonly registration: Registration
  readonly fetch?: Fetch
  readonly now?: () => Date
}

export interface JoinedExchange {
  readonly baseUrl: string
  readonly clientId: string
  readonly agent: AgentResource
  /** For comparison over another channel. */
  readonly fingerprint: string
}

/**
 * Joins an exchange by an invitation: makes the agent's folder and keys, registers its client and then the agent. Run
 * it again after a failure: it continues with the same keys.
 *
 * @example
 * const { agent } = await joinExchange('./planner', {
 *   invitation,
 *   registration: {
 *     implementation: 'planner',
 *     implementationVersion: '1.4.0',
 *     skillVersions: { skill_alignment: '1.0.0' },
 *   },
 * })
 */
export async function joinExchange(path: string, options: JoinOptions): Promise<JoinedExchange> {
  const { invitation: text, agentId: wanted, registration, fetch, now, ...store } = options
  const invitation = readInvitation(text)
  const { baseUrl } = invitation
  const given = { ...(fetch && { fetch }), ...(now && { now }) }
  const folder = await folderFor(path, invitation, { wanted, store, ...(now && { now }) })
  const { publicJwk } = await currentKey(folder.keys, 'client')
  const { agentId } = folder.identity
  const { clientId } = await redeemInvitation({ invitation, agentId, publicJwk, ...given })
  await setExchangeAccess(path, { baseUrl, clientId })
  const { passphrase } = store
  await using agent = await connectFolder(path, { ...given, ...(passphrase !== undefined && { passphrase }) })
  const resource = await agent.register(registration)
  return { baseUrl, clientId, agent: resource, fingerprint: await agent.fingerprint() }
}

interface FolderRequest {
  readonly wanted: string | undefined
  readonly store: FileKeyStoreOptions
  readonly now?: () => Date
}

/** The folder of an earlier attempt, or a new one. */
async function folderFor(
  path: string,
  { baseUrl, organizationId, agentId: invited }: Invitation,
  { wanted, store, ...made }: FolderRequest,
): Promise<AgentFolder> {
  if (wanted !== undefined && invited !== undefined && wanted !== invited)
    throw new ExchangeError('input_invalid', { what: `The invitation is for ${invited} only.` })
  const agentId = wanted ?? invited
  const known = await openAgentFolder(path, store).catch((error: unknown) => {
    if (error instanceof ExchangeError && error.code === 'agent_folder_missing') return undefined
    throw error
  })
  if (!known) {
    const identity = { organizationId, agentId: agentId ?? randomId('agent') }
    return createAgentFolder(path, { identity, baseUrl, ...store, ...made })
  }
  const { identity } = known
  const isSame =
    identity.organizationId === organizationId &&
    (agentId === undefined || identity.agentId === agentId) &&
    (known.baseUrl === undefined || known.baseUrl === baseUrl)
  if (isSame) return known
  const what = `The folder holds ${identity.agentId} of ${identity.organizationId}.`
  throw new ExchangeError('agent_folder_occupied', { what, details: { folder: path } })
}
