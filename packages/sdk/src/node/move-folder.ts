import { rm } from 'node:fs/promises'
import { ExchangeError } from '../errors.ts'
import { filesIn } from './agent-folder.ts'
import { readFolderContents, type FolderContents } from './folder-contents.ts'
import { haveFolderAlone } from './folder-use.ts'
import { readMove, requireNotMoved, writeMove } from './moved-folder.ts'
import { readPrivateFile } from './private-file.ts'

export type { FolderContents } from './folder-contents.ts'

export interface FolderMove {
  readonly passphrase?: string | undefined
  /** Where to, in words. */
  readonly movedTo: string
  readonly now: () => Date
  /** Whether the agent has arrived. */
  readonly hasArrived: (agentId: string) => Promise<boolean>
}

/**
 * Moves an agent out of its folder. `take` stores the contents and calls `retire` as the last step before its commit:
 * from then on the folder refuses to be used, so at no moment two can run. Nothing in the folder is deleted. Run it again
 * after a crash: a folder whose agent has not arrived is moved once more.
 */
export async function moveFolder<T>(
  path: string,
  { passphrase, movedTo, now, hasArrived }: FolderMove,
  take: (contents: FolderContents, retire: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const files = filesIn(path)
  if (!(await readPrivateFile(files.description)))
    throw new ExchangeError('agent_folder_missing', { details: { folder: path } })
  using cleanup = new DisposableStack()
  cleanup.adopt(haveFolderAlone(files.use), (lock) => lock.close())
  const move = await readMove(files.moved)
  if (move && (move.moved_to !== movedTo || (await hasArrived(move.agent_id))))
    await requireNotMoved(files.moved)
  await rm(files.moved, { force: true })
  const contents = await readFolderContents(path, passphrase, cleanup)
  const { agentId } = contents.identity
  const retire = () =>
    writeMove(files.moved, { agent_id: agentId, moved_to: movedTo, moved_at: now().toISOString() })
  try {
    return await take(contents, retire)
  } catch (error) {
    // If nobody can say whether the commit succeeded, the folder stays retired.
    const arrived = await hasArrived(agentId).catch(() => true)
    if (!arrived) await rm(files.moved, { force: true })
    throw error
  }
}
