import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

const OWNER_ONLY = 0o600
/** Left behind by a crash before the rename; the next writer removes it. */
const UNFINISHED = '.new'
/** Largest file: keys, pins and descriptions are small. */
const MAXIMUM_BYTES = 16_777_216

export interface PrivateFile {
  readonly text: string
  /** Permission bits. */
  readonly mode: number
}

/** Text and permissions of a file, from one file descriptor; undefined if there is no file. */
export async function readPrivateFile(file: string): Promise<PrivateFile | undefined> {
  const handle = await open(file, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (!handle) return undefined
  try {
    const { mode, size } = await handle.stat()
    if (size > MAXIMUM_BYTES) throw new RangeError(`${file} is larger than ${MAXIMUM_BYTES} bytes`)
    return { text: await handle.readFile('utf8'), mode: mode & 0o777 }
  } finally {
    await handle.close()
  }
}

/**
 * Replaces a file atomically: after a crash it holds the old text or the new one. Only its owner can ever read it. One
 * writer at a time.
 */
export async function writePrivateFile(file: string, text: string): Promise<void> {
  const unfinished = file + UNFINISHED
  await rm(unfinished, { force: true })
  const handle = await open(unfinished, 'wx', OWNER_ONLY)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(unfinished, file)
  // Makes the rename durable. Windows cannot open folders.
  if (process.platform === 'win32') return
  const folder = await open(dirname(file), 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Whether other users have one of these permissions. False on systems without permissions. */
export function isOpenToOthers(mode: number, permissions: 'any' | 'write'): boolean {
  return process.platform !== 'win32' && (mode & (permissions === 'any' ? 0o077 : 0o022)) !== 0
}
