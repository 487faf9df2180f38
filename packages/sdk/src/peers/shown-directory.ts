import { jwkThumbprint, type PublicJwk } from '@agent-exchange/crypto'
import type { KeyDirectory, PublicKey as DirectoryKey } from '@agent-exchange/protocol'
import type { Connection } from '../connection/connection.ts'
import { ExchangeError } from '../errors.ts'
import { CACHED_DIRECTORIES, DIRECTORY_CACHE_MS, DIRECTORY_KEYS } from './peer-limits.ts'
import { asUnknownPeer } from './unknown-peer.ts'

/** A key of the directory, with its computed fingerprint. */
export interface ShownKey {
  readonly entry: DirectoryKey
  readonly fingerprint: string
}

/** The directory entry of one agent, unverified. */
export interface ShownDirectory {
  readonly agentId: string
  readonly organizationId: string
  readonly version: string
  readonly keys: readonly ShownKey[]
}

interface Kept {
  readonly at: number
  readonly shown: Promise<ShownDirectory>
}

export type ReadDirectory = (agentId: string, how?: { readonly fresh?: boolean }) => Promise<ShownDirectory>

/** Reads and briefly caches directories. Concurrent callers share one request. */
export function createDirectoryReader(connection: Connection, now: () => Date): ReadDirectory {
  const kept = new Map<string, Kept>()
  return async (agentId, { fresh = false } = {}) => {
    const at = now().getTime()
    const known = kept.get(agentId)
    if (known && !fresh && Math.abs(at - known.at) < DIRECTORY_CACHE_MS) return known.shown
    const shown = fetchDirectory(connection, agentId)
    kept.delete(agentId)
    kept.set(agentId, { at, shown })
    const [oldest] = kept.keys()
    if (kept.size > CACHED_DIRECTORIES && oldest !== undefined) kept.delete(oldest)
    try {
      return await shown
    } catch (error) {
      if (kept.get(agentId)?.shown === shown) kept.delete(agentId)
      throw error
    }
  }
}

async function fetchDirectory(connection: Connection, agentId: string): Promise<ShownDirectory> {
  let directory: KeyDirectory
  try {
    directory = await connection.call('getAgentKeys', { path: { agent_id: agentId } })
  } catch (error) {
    throw asUnknownPeer(error, agentId)
  }
  const ids = new Set(directory.keys.map(({ key_id }) => key_id))
  if (
    directory.agent_id !== agentId ||
    ids.size !== directory.keys.length ||
    directory.keys.length > DIRECTORY_KEYS
  ) {
    const what = 'The key directory is of another agent, repeats a key id, or is too large.'
    throw new ExchangeError('exchange_answer_unreadable', { what, details: { agentId } })
  }
  const keys = await Promise.all(
    directory.keys.map(async (entry) => ({
      entry,
      fingerprint: await jwkThumbprint(entry.public_key as PublicJwk),
    })),
  )
  return {
    agentId,
    organizationId: directory.organization_id,
    version: directory.directory_version,
    keys,
  }
}
