import { ExchangeError } from '@agent-exchange/sdk'
import { moveFolder, type FolderContents } from '@agent-exchange/sdk/internal/node'
import { openAgentDocuments } from '../stores/agent-documents.ts'
import { lockPart } from '../stores/agent-lock.ts'
import { insertSplitView } from '../stores/agent-states.ts'
import { insertDrafts } from '../stores/draft-store.ts'
import { insertInbox } from '../stores/inbox.ts'
import { openPostgresKeyStore } from '../stores/key-store.ts'
import { insertEntries } from '../stores/outbox.ts'
import { insertPins } from '../stores/pin-store.ts'
import { listAgents, saveAgent } from './agent-registry.ts'
import type { AgentDependencies } from './open-agent.ts'

type ImportDependencies = Pick<AgentDependencies, 'db' | 'box' | 'now' | 'keyProvider'>

export interface AgentToImport {
  /** An agent's folder, as `aex agent` made it. */
  readonly folder: string
  /** Opens the key store, where it is locked. */
  readonly passphrase?: string | undefined
  /** Refuses the folder of another agent. */
  readonly agentId?: string | undefined
  /** Which gateway this is, in words: the folder says so from then on. */
  readonly gateway: string
}

export interface ImportedAgent {
  readonly agentId: string
  readonly organizationId: string
  readonly baseUrl: string
  readonly keys: number
  readonly pins: number
  readonly outbox: number
  readonly events: number
  readonly drafts: number
  /** Tables of the company's own program in the inbox file: they stay in the folder. */
  readonly applicationTables: readonly string[]
}

/**
 * Moves an agent's folder into the database in one transaction, and retires the folder. Running instances continue with
 * it within seconds: what waits is handled and sent, what was handled is not handled again.
 */
export function importAgent(deps: ImportDependencies, given: AgentToImport): Promise<ImportedAgent> {
  const { db, now } = deps
  const hasArrived = async (agentId: string) =>
    (await listAgents(db)).some((each) => each.agentId === agentId)
  const { folder, passphrase, gateway } = given
  return moveFolder(folder, { passphrase, movedTo: gateway, now, hasArrived }, async (contents, retire) => {
    const { agentId } = contents.identity
    if (given.agentId !== undefined && given.agentId !== agentId)
      throw new ExchangeError('input_invalid', { what: `The folder holds ${agentId}, not ${given.agentId}.` })
    if (await hasArrived(agentId)) throw isThere(agentId)
    return store(deps, contents, retire)
  })
}

const isThere = (agentId: string) =>
  new ExchangeError('input_invalid', { what: `This gateway runs ${agentId} already.` })

async function store(
  { db, box, now, keyProvider }: ImportDependencies,
  contents: FolderContents,
  retire: () => Promise<void>,
): Promise<ImportedAgent> {
  const { identity, baseUrl, clientId, keys, pins, inbox, drafts, sentDrafts } = contents
  const { agentId, organizationId } = identity
  const keyStore = openPostgresKeyStore(db, agentId, { box, ...(keyProvider && { provider: keyProvider }) })
  const prepared = await keyStore.prepareImport(keys)
  try {
    return await db.begin(async (tx) => {
      await lockPart(tx, 'import', agentId)
      if ((await listAgents(tx)).some((each) => each.agentId === agentId)) throw isThere(agentId)
      const settings = settingsOf(contents)
      await saveAgent(tx, { agentId, organizationId, baseUrl, clientId, settings }, now().toISOString())
      await prepared.store(tx)
      await insertPins(tx, agentId, pins)
      const outbox = await insertEntries(tx, agentId, contents.outbox)
      const events = await insertInbox(tx, agentId, inbox)
      await insertDrafts(tx, agentId, box, [...drafts, ...sentDrafts])
      const documents = openAgentDocuments(tx, agentId)
      await documents.write('approver', contents.approver)
      await documents.write('log', contents.log)
      await documents.write('log_trouble', contents.logTrouble)
      await documents.write('monitor', contents.monitor)
      await documents.write('deployment', contents.deployment)
      for (const view of contents.splitViews) await insertSplitView(tx, agentId, view)
      await retire()
      return {
        agentId,
        organizationId,
        baseUrl,
        keys: keys.length,
        pins: pins.length,
        outbox,
        events,
        drafts: drafts.length,
        applicationTables: inbox.applicationTables,
      }
    })
  } catch (error) {
    await prepared.undo()
    throw error
  }
}

function settingsOf({ defaults, trust, names, logPolicy }: FolderContents) {
  return {
    defaults,
    trust,
    ...(Object.keys(names).length > 0 && { names }),
    ...(logPolicy !== undefined && { logPolicy }),
  }
}
