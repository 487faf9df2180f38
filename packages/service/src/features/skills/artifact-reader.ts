import { LRUCache } from 'lru-cache'
import type { Queries } from '@agent-exchange/database'
import { createBatcher } from '../../kernel/batcher.ts'
import { growingCache } from '../../kernel/growing-cache.ts'
import { Problem } from '../../kernel/problem.ts'
import { artifactLengths, artifactPart, type ArtifactPart } from './skill-store.ts'

/** A slow reader holds one part. It is not smaller, because the database decompresses all bytes in front of a part. */
const PART_BYTES = 524_288
/** Queries at a time: downloads need no token, so they must leave connections for everybody else. */
const CONCURRENT_PARTS = 2
const MAXIMUM_LENGTHS_READ = 64
const MAXIMUM_LENGTHS_CACHED = 10_000
const MAXIMUM_WAITING = 256
/** SHA-256 in lower-case hex, so that each artifact has exactly one name. */
const ARTIFACT_NAME = /^[0-9a-f]{64}$/

/** Reads artifacts by the last path segment of their artifact_url. */
export interface ArtifactReader {
  /** @throws {Problem} resource_not_found */
  readonly length: (name: string) => Promise<number>
  /** Reads each part when it is asked for, so a reader that pauses holds no connection. */
  readonly parts: (name: string, length: number) => AsyncGenerator<Uint8Array, void>
}

/** Content never changes, so it is cached: all readers share one copy, and readers of the same part share its query. */
export function createArtifactReader(db: Queries, cacheBytes: number): ArtifactReader {
  const lengths = growingCache<number>(MAXIMUM_LENGTHS_CACHED)
  const parts = new LRUCache<string, Uint8Array>({
    maxSize: cacheBytes,
    sizeCalculation: ({ length }) => length,
  })
  const underWay = new Map<string, Promise<Uint8Array>>()
  const lengthQueries = createBatcher<string, number | undefined>({
    concurrency: 1,
    maximumBatch: MAXIMUM_LENGTHS_READ,
    maximumQueue: MAXIMUM_WAITING,
    async run(digests) {
      const found = await artifactLengths(db, digests)
      return digests.map((digest) => ({ done: found.get(digest) }))
    },
  })
  const partQueries = createBatcher<ArtifactPart, Uint8Array>({
    concurrency: CONCURRENT_PARTS,
    maximumBatch: 1,
    maximumQueue: MAXIMUM_WAITING,
    run: (wanted) => Promise.all(wanted.map(async (part) => ({ done: await artifactPart(db, part) }))),
  })

  async function queryPart(key: string, part: ArtifactPart): Promise<Uint8Array> {
    try {
      const bytes = await partQueries.submit(part)
      parts.set(key, bytes)
      return bytes
    } finally {
      underWay.delete(key)
    }
  }

  function readPart(name: string, offset: number): Promise<Uint8Array> | Uint8Array {
    const key = `${name} ${offset}`
    const known = parts.get(key) ?? underWay.get(key)
    if (known) return known
    const reading = queryPart(key, { digest: digestOf(name), offset, bytes: PART_BYTES })
    underWay.set(key, reading)
    return reading
  }

  return {
    async length(name) {
      if (!ARTIFACT_NAME.test(name)) throw new Problem('resource_not_found')
      const length = lengths.get(name) ?? (await lengthQueries.submit(digestOf(name)))
      if (length === undefined) throw new Problem('resource_not_found')
      lengths.set(name, length)
      return length
    },
    async *parts(name, length) {
      for (let offset = 0; offset < length; offset += PART_BYTES) yield await readPart(name, offset)
    },
  }
}

function digestOf(name: string): string {
  return `sha-256=:${Buffer.from(name, 'hex').toString('base64')}:`
}
