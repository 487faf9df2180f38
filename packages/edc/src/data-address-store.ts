import { createHash, randomBytes } from 'node:crypto'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ConnectorError } from './connector-error.ts'

/** Storage of the data address. A withdrawal is permanent. */
export interface DataAddressStore {
  put(assetId: string, bytes: Uint8Array): Promise<void>
  get(assetId: string): Promise<Uint8Array | 'withdrawn' | undefined>
  /** Whether the bytes were ever stored here. */
  withdraw(assetId: string): Promise<boolean>
  /** The secret of the data plane; kept across restarts by a durable store. */
  secret(): Promise<string>
}

const SECRET_BYTES = 32

export function memoryStore(): DataAddressStore {
  const kept = new Map<string, Uint8Array | 'withdrawn'>()
  const had = new Set<string>()
  const secret = newSecret()
  return {
    put: async (assetId, bytes) => {
      requireSame(kept.get(assetId), bytes)
      kept.set(assetId, Uint8Array.from(bytes))
      had.add(assetId)
    },
    get: async (assetId) => kept.get(assetId),
    withdraw: async (assetId) => {
      kept.set(assetId, 'withdrawn')
      return had.has(assetId)
    },
    secret: async () => secret,
  }
}

/** Files in a private folder, written atomically. */
export async function folderStore(folder: string): Promise<DataAddressStore> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  // The id is foreign input: its hash is a safe file name.
  const file = (assetId: string, kind: string) =>
    join(folder, `${createHash('sha256').update(assetId).digest('hex')}.${kind}`)
  const get = async (assetId: string) => {
    if ((await read(file(assetId, 'withdrawn'))) !== undefined) return 'withdrawn'
    return read(file(assetId, 'bytes'))
  }
  return {
    get,
    put: async (assetId, bytes) => {
      const known = await get(assetId)
      requireSame(known, bytes)
      if (known === undefined) await write(folder, file(assetId, 'bytes'), bytes)
    },
    withdraw: async (assetId) => {
      const mark = await read(file(assetId, 'withdrawn'))
      const had = mark ? mark.length > 0 : (await read(file(assetId, 'bytes'))) !== undefined
      // The mark first: after a crash in between, the bytes are no longer served.
      if (!mark) await write(folder, file(assetId, 'withdrawn'), Buffer.from(had ? 'kept here' : ''))
      await rm(file(assetId, 'bytes'), { force: true })
      return had
    },
    secret: async () => {
      const path = join(folder, 'secret')
      const known = await read(path)
      if (known) return Buffer.from(known).toString('utf8')
      const fresh = newSecret()
      await write(folder, path, Buffer.from(fresh))
      return fresh
    },
  }
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}

function requireSame(known: Uint8Array | 'withdrawn' | undefined, bytes: Uint8Array): void {
  if (known === 'withdrawn')
    throw new ConnectorError('withdrawn', { what: 'What was withdrawn is not published again.' })
  if (known && !Buffer.from(known).equals(bytes))
    throw new ConnectorError('conflict', { what: 'Other bytes are already kept for this asset.' })
}

async function read(path: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

async function write(folder: string, path: string, bytes: Uint8Array): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString('hex')}.new`
  await using handle = await open(draft, 'wx', 0o600)
  await handle.writeFile(bytes)
  await handle.sync()
  await rename(draft, path)
  await using parent = await open(folder, 'r')
  await parent.sync()
}
