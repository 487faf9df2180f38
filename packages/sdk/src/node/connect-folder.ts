import type { DatabaseSync } from 'node:sqlite'
import type { NotificationEnvelope } from '@agent-exchange/protocol'
import { connect, type Agent, type ConnectOptions } from '../agent.ts'
import { ExchangeError } from '../errors.ts'
import type { Outbox } from '../outbox/outbox.ts'
import type { Drafts } from '../drafts/draft.ts'
import type { Inbox } from '../receive/inbox.ts'
import type { PackageHandler } from '../receive/package-handler.ts'
import type { PackageReceiverOptions } from '../receive/package-receiver.ts'
import type { Receiver } from '../receive/receiver.ts'
import { keepFromGit, openAgentFolder, requireOriginal, type AgentFolder } from './agent-folder.ts'
import { readAgentDefaults, readAgentTrust } from './agent-settings.ts'
import { openFileDeployment } from './file-deployment.ts'
import { openFileLogState } from './file-log-state.ts'
import { useFolder } from './folder-use.ts'
import { readLogPolicy } from './log-policy-file.ts'
import { openFolderDrafts } from './folder-drafts.ts'
import { requireNotMoved } from './moved-folder.ts'
import { readPending, type Pending } from './pending.ts'
import { openSqliteInbox, type SqliteInbox } from './sqlite-inbox.ts'
import { openSqliteOutbox, type SqliteOutbox } from './sqlite-outbox.ts'

/** Events of each state whose threads are listed, the newest ones. */
const LISTED_EVENTS = 10_000

export interface FolderOptions extends Partial<
  Omit<ConnectOptions, 'identity' | 'keys' | 'pins' | 'log' | 'outbox' | 'deployment'>
> {
  /** Opens the key store, where it is locked. */
  readonly passphrase?: string
  /** How long an approval of a draft permits sending. Defaults to 24 hours. */
  readonly approvalMaximumAgeMs?: number
}

type FolderPackageOptions<Transaction> = Omit<PackageReceiverOptions<Transaction>, 'inbox'> &
  Partial<Pick<PackageReceiverOptions<Transaction>, 'inbox'>>

/** An agent with everything that it keeps on disk. Disposing of it closes its files. */
export interface FolderAgent extends Agent, AsyncDisposable {
  /** The inbox defaults to that of the folder. */
  onPackage<Transaction = DatabaseSync>(
    handle: PackageHandler<Transaction>,
    options?: FolderPackageOptions<Transaction>,
  ): Receiver
  readonly folder: AgentFolder
  /** Sealed packages that wait to be accepted. */
  readonly outbox: Outbox
  /** Packages that are not sealed yet. Those that a person must approve wait here for the desk. */
  readonly drafts: Drafts
  /** What waits: for a person, for sending, for the exchange, for a handler. */
  pending(): Promise<Pending>
  /** Threads of the stored events and of the accepted packages. */
  threads(): Promise<readonly string[]>
  /** The durable inbox of the folder, for {@link Agent.receiver}. Opened at its first use. */
  inbox(): SqliteInbox
}

/**
 * Connects the agent whose folder `aex agent init` or `createAgentFolder` made: keys, pins, outbox and inbox are
 * those on disk, so nothing is lost between two runs.
 *
 * @example
 * await using agent = await connectFolder('./aex-agent')
 * await agent.resume()
 * await using receiver = agent.onPackage(async ({ reply }) => void (await reply({ summary: 'We agree.' })))
 * await receiver.start()
 */
export async function connectFolder(path: string, options: FolderOptions = {}): Promise<FolderAgent> {
  const { passphrase, approvalMaximumAgeMs, ...given } = options
  const folder = await openAgentFolder(path, passphrase === undefined ? {} : { passphrase })
  const baseUrl = given.baseUrl ?? folder.baseUrl
  const clientId = given.clientId ?? folder.clientId
  if (baseUrl === undefined || clientId === undefined) {
    throw new ExchangeError('agent_folder_unregistered', { details: { folder: path } })
  }
  let inbox: SqliteInbox | undefined
  let outbox: SqliteOutbox | undefined
  const use = useFolder(folder.files.use)
  const close = async () => {
    await inbox?.close()
    outbox?.[Symbol.dispose]()
    use.close()
  }
  try {
    // It may have moved to a gateway since it was opened.
    await requireNotMoved(folder.files.moved)
    await requireOriginal(path)
    await keepFromGit(path)
    const defaults = { ...(await readAgentDefaults(folder.files.settings)), ...given.defaults }
    const trust = given.trust ?? (await readAgentTrust(folder.files.settings))
    const logPolicy = given.logPolicy ?? (await readLogPolicy(folder.files.logPolicy))
    const sending = (outbox = openSqliteOutbox(folder.files.outbox))
    const agent = await connect({
      ...given,
      baseUrl,
      clientId,
      identity: folder.identity,
      keys: folder.keys,
      pins: folder.pins,
      log: openFileLogState(folder.files.log),
      deployment: openFileDeployment(folder.files.deployment),
      trust,
      ...(logPolicy && { logPolicy }),
      outbox: sending,
      defaults,
    })
    const { dataSpace } = given
    const drafts = openFolderDrafts(agent.context, {
      files: folder.files,
      shared: { outbox: sending, ...(dataSpace && { dataSpace }) },
      ...(approvalMaximumAgeMs !== undefined && { approvalMaximumAgeMs }),
    })
    const openInbox = () => (inbox ??= openSqliteInbox(folder.files.inbox))
    return {
      ...agent,
      folder,
      outbox: sending,
      drafts,
      pending: () => readPending(drafts, sending, openInbox()),
      threads: async () => [...new Set([...(await sending.threads()), ...(await threadsIn(openInbox()))])],
      inbox: openInbox,
      onPackage: <Transaction>(
        handle: PackageHandler<Transaction>,
        how: FolderPackageOptions<Transaction> = {},
      ) => {
        // Without an inbox of its own, the caller gets that of the folder, whose transaction is a DatabaseSync.
        const { inbox: own = openInbox() as unknown as Inbox<Transaction>, ...rest } = how
        return agent.onPackage(handle, { ...rest, inbox: own })
      },
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function threadsIn(inbox: SqliteInbox): Promise<string[]> {
  const states = ['pending', 'processed', 'set_aside'] as const
  const events = await Promise.all(states.map((state) => inbox.list(state, LISTED_EVENTS, 'newest')))
  return events.flat().map(({ body }) => (JSON.parse(body) as NotificationEnvelope).thread_id)
}
