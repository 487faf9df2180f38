import { mkdir, open, readFile, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { formatCheckpoint, parseCheckpoint, type Checkpoint } from '@agent-exchange/log'

const FILE_NAME = 'log-checkpoint'

/**
 * The last checkpoint that this machine was about to sign, outside the database: a database that was restored from an
 * older copy is behind it.
 */
export interface CheckpointFile {
  read(): Promise<Checkpoint | undefined>
  /** Resolves when the file is on disk. */
  write(checkpoint: Checkpoint): Promise<void>
}

export function checkpointFile(dataDirectory: string): CheckpointFile {
  const path = join(dataDirectory, FILE_NAME)
  return {
    async read() {
      try {
        return parseCheckpoint(await readFile(path, 'utf8'))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw error
      }
    },
    async write(checkpoint) {
      await mkdir(dirname(path), { recursive: true })
      const draft = `${path}.new`
      await withFile(draft, 'w', async (file) => {
        await file.writeFile(formatCheckpoint(checkpoint))
        await file.sync()
      })
      await rename(draft, path)
      await withFile(dirname(path), 'r', (folder) => folder.sync())
    },
  }
}

type OpenFile = Awaited<ReturnType<typeof open>>

async function withFile(path: string, flags: string, work: (file: OpenFile) => Promise<void>): Promise<void> {
  const file = await open(path, flags)
  try {
    await work(file)
  } finally {
    await file.close()
  }
}
