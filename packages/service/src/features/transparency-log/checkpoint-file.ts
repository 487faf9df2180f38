import { hash, randomUUID } from 'node:crypto'
import { link, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { formatCheckpoint, parseCheckpoint, type Checkpoint } from '@agent-exchange/log'

const FOLDER = 'log-checkpoints'
const SIZE_DIGITS = 16
const FILE_NAME = /^\d{16}$/u

/**
 * The last checkpoint that this machine knows to be signed, outside the database: a database that was restored from an
 * older copy is behind it. Each size has a file of its own, so that processes which share the folder can neither
 * replace a checkpoint by an older one nor remember two roots of one size.
 */
export interface CheckpointFile {
  /** Of this log. `ended`: another log took its place on this machine. */
  read(origin: string): Promise<Checkpoint | 'ended' | undefined>
  /** Resolves when the checkpoint is on disk. Fails if another root of this size is remembered. */
  write(checkpoint: Checkpoint): Promise<void>
}

const ENDED = '.ended'
const ORIGIN_CHARACTERS = 16
const nameOf = (origin: string) => hash('sha256', origin, 'hex').slice(0, ORIGIN_CHARACTERS)

export function checkpointFile(dataDirectory: string): CheckpointFile {
  const root = join(dataDirectory, FOLDER)

  async function endOthers(origin: string): Promise<void> {
    for (const each of await list(root))
      if (each !== nameOf(origin) && !each.endsWith(ENDED))
        await rename(join(root, each), join(root, `${each}${ENDED}`))
  }

  return {
    async read(origin) {
      const folder = join(root, nameOf(origin))
      if ((await list(`${folder}${ENDED}`)).length > 0) return 'ended'
      const newest = (await sizesIn(folder)).at(-1)
      return newest === undefined ? undefined : parseCheckpoint(await readFile(join(folder, newest), 'utf8'))
    },
    async write(checkpoint) {
      const folder = join(root, nameOf(checkpoint.origin))
      await mkdir(folder, { recursive: true })
      const name = String(checkpoint.size).padStart(SIZE_DIGITS, '0')
      await createOnce(join(folder, name), formatCheckpoint(checkpoint))
      await withFile(folder, 'r', (opened) => opened.sync())
      for (const each of await sizesIn(folder)) if (each < name) await rm(join(folder, each), { force: true })
      await endOthers(checkpoint.origin)
      await withFile(root, 'r', (opened) => opened.sync())
    },
  }
}

/** Names of the files, by size. */
async function sizesIn(folder: string): Promise<string[]> {
  return (await list(folder)).filter((name) => FILE_NAME.test(name)).toSorted()
}

async function list(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(ignoreMissing)) ?? []
}

/** Creates a complete file or none. An existing one has to be equal. */
async function createOnce(path: string, text: string): Promise<void> {
  const draft = `${path}.${randomUUID()}`
  try {
    await withFile(draft, 'wx', async (file) => {
      await file.writeFile(text)
      await file.sync()
    })
    await link(draft, path)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    if ((await readFile(path, 'utf8')) !== text)
      throw new Error('another root of this size of the transparency log was signed before', { cause: error })
  } finally {
    await rm(draft, { force: true })
  }
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code

function ignoreMissing(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error
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
