import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { FolderAgent } from '@agent-exchange/sdk/node'
import { fetchEvents } from './threads.ts'

/** A summary of what the desk shows. Drafts are not read: their files are replaced when they change. */
export async function readDeskChanges(agent: FolderAgent): Promise<object> {
  await fetchEvents(agent)
  return { inbox: await agent.inbox().position(), drafts: await fileTimes(agent.folder.files.drafts) }
}

async function fileTimes(folder: string): Promise<readonly (readonly [string, number])[]> {
  // The folder is created with the first draft.
  const names = await readdir(folder).catch(() => [])
  return Promise.all(
    names.toSorted().map(async (name) => {
      // Another process may have sent or discarded the draft meanwhile.
      const found = await stat(join(folder, name)).catch(() => undefined)
      return [name, found?.mtimeMs ?? 0] as const
    }),
  )
}
