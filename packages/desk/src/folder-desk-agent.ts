import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ExchangeError } from '@agent-exchange/sdk'
import { approveDraft, readAddressBook, readAgentDefaults } from '@agent-exchange/sdk/internal/node'
import type { FolderAgent } from '@agent-exchange/sdk/node'
import { readPackageOf, type DeskAgent, type WaitingWork } from './desk-agent.ts'
import { POLL_WAIT_MS } from './desk-limits.ts'
import { endingKeysOf } from './ending-keys.ts'
import { threadsOfInbox } from './threads-of-inbox.ts'

/** The agent of a folder, for one person on this machine. */
export function folderDeskAgent(agent: FolderAgent): DeskAgent {
  const { files, folder } = agent.folder
  return {
    place: 'folder',
    identity: agent.identity,
    ...(agent.context.logPolicy && { logPolicy: agent.context.logPolicy }),
    get profile() {
      return agent.context.deployment.profile
    },
    names: () => readAddressBook(files.settings),
    defaultPolicy: async () => (await readAgentDefaults(files.settings)).policy,
    defaultSkill: () => skillOf(agent),
    fetchEvents: () => fetchEvents(agent),
    // Drafts are not read: their files are replaced when they change.
    summary: async () => ({
      inbox: await agent.inbox().position(),
      drafts: await fileTimes(files.drafts),
    }),
    waiting: (now) => waitingWork(agent, now),
    threads: (limit) => threadsOfInbox(agent.inbox(), limit),
    isKnownThread: async (threadId) => (await agent.threads()).includes(threadId),
    thread: agent.thread,
    package: (packageId, signal) =>
      agent.context.connection.call('getPackage', {
        path: { package_id: packageId },
        ...(signal && { signal }),
      }),
    read: (packageId) => agent.open(packageId, { receipts: 'none' }),
    readInFull: async (packageId) => readPackageOf(await agent.open(packageId, { receipts: 'none' })),
    open: (packageId) => agent.open(packageId),
    revoke: (packageId, input) => agent.revoke(packageId, input),
    evidence: (subject, { disclose = [] } = {}) => agent.capsule(subject, { waitMs: 0, disclose }),
    drafts: agent.drafts,
    decide: async ({ now, ...decision }) =>
      void (await approveDraft({ ...decision, folder, now: () => now })),
  }
}

async function skillOf(agent: FolderAgent): ReturnType<DeskAgent['defaultSkill']> {
  const { skill } = await readAgentDefaults(agent.folder.files.settings)
  if (skill) return skill
  const path = { agent_id: agent.identity.agentId }
  const { skill_versions: registered } = await agent.context.connection.call('getAgent', { path })
  const [first] = Object.entries(registered)
  return first && { id: first[0], version: first[1] }
}

async function waitingWork(agent: FolderAgent, now: Date): Promise<WaitingWork> {
  const [{ forPerson, sealed, setAside }, endingKeys] = await Promise.all([
    agent.pending(),
    endingKeysOf(agent, now),
  ])
  return { drafts: forPerson, sealed: sealed.length, setAside, endingKeys }
}

async function fetchEvents(agent: FolderAgent): Promise<string | undefined> {
  const receiver = agent.receiver({ inbox: agent.inbox(), handle: async () => undefined })
  const polled = receiver.poll().then(
    () => undefined,
    (error: unknown) =>
      error instanceof ExchangeError ? error.message : 'New events could not be read from the exchange.',
  )
  const waited = new Promise<string>((resolve) => {
    setTimeout(
      resolve,
      POLL_WAIT_MS,
      'The exchange has not answered yet. Reload the page for new events.',
    ).unref()
  })
  return Promise.race([polled, waited])
}

async function fileTimes(folder: string): Promise<readonly (readonly [string, number])[]> {
  // The folder is created with the first draft.
  const names = await readdir(folder).catch((): string[] => [])
  return Promise.all(
    names.toSorted().map(async (name) => {
      // Another process may have sent or discarded the draft meanwhile.
      const found = await stat(join(folder, name)).catch(() => undefined)
      return [name, found?.mtimeMs ?? 0] as const
    }),
  )
}
