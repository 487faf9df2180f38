import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'

const CHUNK_BYTES = 1_048_576

export interface CopiedFile {
  readonly size: number
  readonly sha256: string
}

/** Copies a file and has it on disk before it says so; what was copied is described by its digest. */
export async function copyHashed(from: string, to: string): Promise<CopiedFile> {
  await using source = await open(from, 'r')
  await using target = await open(to, 'wx', 0o600)
  const hash = createHash('sha256')
  const chunk = Buffer.alloc(CHUNK_BYTES)
  let size = 0
  for (;;) {
    const { bytesRead } = await source.read(chunk, 0, CHUNK_BYTES, null)
    if (bytesRead === 0) break
    const part = chunk.subarray(0, bytesRead)
    hash.update(part)
    await target.writeFile(part)
    size += bytesRead
  }
  await target.sync()
  return { size, sha256: hash.digest('hex') }
}

export function describe(text: string): CopiedFile {
  return { size: Buffer.byteLength(text), sha256: createHash('sha256').update(text).digest('hex') }
}

/** Makes new names in a folder durable. */
export async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, 'r')
  await handle.sync()
}
