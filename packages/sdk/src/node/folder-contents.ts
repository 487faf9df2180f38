import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { AddressBook } from '@agent-exchange/log'
import type { TrustOverrides } from '@agent-exchange/protocol'
import type { Identity } from '../context.ts'
import type { KnownDeployment } from '../deployment/deployment.ts'
import { isDraftId } from '../drafts/draft-document.ts'
import { draftUnreadable, type DraftRecord, type SentDraftRecord } from '../drafts/draft-store.ts'
import { ExchangeError } from '../errors.ts'
import type { LogState, LogTrouble } from '../log-state.ts'
import type { MonitorState } from '../monitor/monitor-state.ts'
import type { OutboxEntry } from '../outbox/outbox.ts'
import type { PeerPins } from '../peers/peer-directory.ts'
import type { SendDefaults } from '../send/send-defaults.ts'
import { openAgentFolder, requireOriginal, type AgentFolder } from './agent-folder.ts'
import { readAddressBook, readAgentDefaults, readAgentTrust } from './agent-settings.ts'
import { readApproverFile, type ApproverFile } from './approver-file.ts'
import { openDraftFiles } from './draft-files.ts'
import { openFileDeployment } from './file-deployment.ts'
import { readStoredKeys } from './file-key-store.ts'
import type { StoredKey } from './file-key-store-format.ts'
import { openFileLogState } from './file-log-state.ts'
import { readMonitorState } from './file-monitor-state.ts'
import { readLogPolicy } from './log-policy-file.ts'
import { createPassphraseLock } from './passphrase-cipher.ts'
import { readPrivateFile } from './private-file.ts'
import { readInboxContents, type InboxContents } from './inbox-contents.ts'
import { openSqliteOutbox } from './sqlite-outbox.ts'

/** Everything that an agent keeps in its folder. */
export interface FolderContents {
  readonly identity: Identity
  readonly baseUrl: string
  readonly clientId: string
  readonly keys: readonly StoredKey[]
  readonly pins: readonly PeerPins[]
  /** Read while they are iterated: entries can be large. */
  readonly outbox: Iterable<OutboxEntry>
  readonly inbox: InboxContents
  readonly drafts: readonly DraftRecord[]
  readonly sentDrafts: readonly SentDraftRecord[]
  readonly approver: ApproverFile | undefined
  readonly log: LogState | undefined
  readonly logTrouble: LogTrouble | undefined
  /** JSON texts. */
  readonly splitViews: readonly string[]
  readonly monitor: MonitorState
  readonly deployment: KnownDeployment | undefined
  readonly defaults: SendDefaults
  readonly trust: TrustOverrides
  readonly names: AddressBook
  readonly logPolicy: string | undefined
}

/** Reads a folder that nobody else uses. What cannot be read is an error: nothing is left out. */
export async function readFolderContents(
  path: string,
  passphrase: string | undefined,
  cleanup: DisposableStack,
): Promise<FolderContents> {
  const folder = await openAgentFolder(path)
  await requireOriginal(path)
  const { identity, baseUrl, clientId, files } = folder
  if (baseUrl === undefined || clientId === undefined)
    throw new ExchangeError('agent_folder_unregistered', { details: { folder: path } })
  if (await readPrivateFile(files.connector))
    throw new ExchangeError('input_invalid', {
      what: `The agent uses a data-space connector (${files.connector}), and a gateway has none. Move connector.json away if the agent no longer needs it.`,
    })
  const log = openFileLogState(files.log)
  await readLogPolicy(files.logPolicy)
  return {
    identity,
    baseUrl,
    clientId,
    keys: await readStoredKeys(
      files.keys,
      passphrase === undefined ? undefined : createPassphraseLock(passphrase),
    ),
    pins: await folder.pins.list(),
    outbox: outboxEntries(files.outbox, cleanup),
    inbox: readInboxContents(files.inbox, cleanup),
    ...(await readDrafts(files.drafts)),
    approver: await readApproverFile(files.approver),
    log: await log.read(),
    logTrouble: await log.readTrouble(),
    splitViews: await readSplitViews(folder),
    monitor: await readMonitorState(files.monitor),
    deployment: await openFileDeployment(files.deployment).read(),
    defaults: await readAgentDefaults(files.settings),
    trust: await readAgentTrust(files.settings),
    names: await readAddressBook(files.settings),
    logPolicy: (await readPrivateFile(files.logPolicy))?.text,
  }
}

function outboxEntries(file: string, cleanup: DisposableStack): Iterable<OutboxEntry> {
  // Refuses a file of another version.
  openSqliteOutbox(file).close()
  const database = cleanup.adopt(new DatabaseSync(file), (each) => each.close())
  return entriesOf(database)
}

function* entriesOf(database: DatabaseSync): Iterable<OutboxEntry> {
  const rows = database.prepare('select entry from outbox order by created_at, package_id')
  for (const { entry } of rows.iterate()) yield JSON.parse(String(entry)) as OutboxEntry
}

async function readDrafts(folder: string): Promise<Pick<FolderContents, 'drafts' | 'sentDrafts'>> {
  const store = openDraftFiles(folder)
  const drafts: DraftRecord[] = []
  for (const draftId of await store.ids()) drafts.push(await store.read(draftId))
  const sentFolder = join(folder, 'sent')
  const names = (await stat(sentFolder).catch(() => undefined)) ? await readdir(sentFolder) : []
  const sentDrafts: SentDraftRecord[] = []
  for (const draftId of names.map((name) => name.replace(/\.json$/u, '')).filter(isDraftId)) {
    const found = await store.findSent(draftId)
    if (!found) throw draftUnreadable(draftId)
    sentDrafts.push(found)
  }
  return { drafts, sentDrafts }
}

async function readSplitViews({ folder }: Pick<AgentFolder, 'folder'>): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => /^split-view-.*\.json$/u.test(name))
  const found = await Promise.all(names.toSorted().map((name) => readPrivateFile(join(folder, name))))
  return found.flatMap((each) => (each ? [JSON.stringify(JSON.parse(each.text))] : []))
}
