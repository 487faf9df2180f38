import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

const OWNER_ONLY = 0o600
/** What a crash before the rename leaves behind; the next writer removes it. */
const UNFINISHED = '.new'
/** Keys, pins and descriptions are small; anything larger is something else. */
const MAXIMUM_BYTES = 16_777_216

export interface PrivateFile {
  readonly text: string
  /** Permission bits. */
  readonly mode: number
}

/** The text of a file with its permissions, both of the same open file; undefined where there is none. */
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
 * Replaces a file at once or not at all: whatever the moment of a crash, the file holds the old text or the new
 * one. Only its owner can read it, from its first byte on. One writer at a time.
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
  // The rename itself has to reach the disk. Windows opens no folders, and needs none of this.
  if (process.platform === 'win32') return
  const folder = await open(dirname(file), 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Whether anybody but the owner has one of these permissions; where there are none to look at, nobody. */
export function isOpenToOthers(mode: number, permissions: 'any' | 'write'): boolean {
  return process.platform !== 'win32' && (mode & (permissions === 'any' ? 0o077 : 0o022)) !== 0
}
