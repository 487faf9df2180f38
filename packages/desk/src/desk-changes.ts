import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { FolderAgent } from '@agent-exchange/sdk/node'
import { fingerprint, type LiveContent } from '@agent-exchange/web'
import { fetchEvents } from './threads.ts'

/** Event stream of pages that update themselves. */
export const EVENTS_PATH = '/events'

/** Address of the stream of a page. Called before the page reads what it shows, so that no later change is missed. */
export async function streamAddress(agent: FolderAgent): Promise<string> {
  return `${EVENTS_PATH}?seen=${fingerprint(await summaryOf(agent))}`
}

/** What the streams of all pages compare. */
export function deskChanges(agent: FolderAgent, seen: string | null): LiveContent {
  const read = async () => {
    await fetchEvents(agent)
    return summaryOf(agent)
  }
  return { topic: 'desk', read, seen: seen ?? undefined }
}

/** A summary of what the desk shows. Drafts are not read: their files are replaced when they change. */
async function summaryOf(agent: FolderAgent): Promise<object> {
  return { inbox: await agent.inbox().position(), drafts: await fileTimes(agent.folder.files.drafts) }
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
