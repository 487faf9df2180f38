import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  openCheckpoint,
  parseVerifierKey,
  proveConsistency,
  tilePath,
  verifyConsistency,
  type ReadTile,
} from '@agent-exchange/log'
import type { Organization } from '@agent-exchange/testkit'
import { openMirror } from '../../packages/service/src/features/transparency-log/log-mirror.ts'

const POLL_MS = 250
const ANSWER_LIMIT_MS = 5_000
const MAXIMUM_KEPT = 20_000

export interface CheckpointWatch {
  /** Verifies that the newest checkpoint continues every checkpoint that was seen. Returns how many there were. */
  verify(): Promise<number>
}

/** Collects every checkpoint that either API process publishes, as a client sees it. */
export function watchCheckpoints(reader: Organization, apis: readonly string[]): CheckpointWatch {
  const seen = new Set<string>()
  let isOver = false
  const look = async (at: string): Promise<void> => {
    const options = { at, signal: AbortSignal.timeout(ANSWER_LIMIT_MS) }
    const answer = await reader.get('/log/checkpoint', options).catch(() => undefined)
    if (answer?.status === 200 && seen.size < MAXIMUM_KEPT) seen.add(answer.text)
  }
  const polling = Promise.all(
    apis.map(async (at) => {
      while (!isOver) {
        await look(at)
        await sleep(POLL_MS)
      }
    }),
  )
  return {
    async verify() {
      isOver = true
      await polling
      await Promise.all(apis.map(look))
      const keys = ((await reader.get('/log/key')).body['verifier_keys'] as string[]).map(parseVerifierKey)
      const opened = await Promise.all([...seen].map((note) => openCheckpoint(note, keys)))
      const newest = opened.toSorted((a, b) => b.size - a.size)[0]
      assert.ok(newest, 'the exchange published no checkpoint')
      const readTile = cached(openMirror(`${apis[0]}/log`, await reader.token()).readTile)
      for (const { size, root } of opened) {
        const proof = await proveConsistency(size, newest.size, readTile)
        verifyConsistency({ oldSize: size, oldRoot: root, newSize: newest.size, newRoot: newest.root, proof })
      }
      return opened.length
    },
  }
}

function cached(readTile: ReadTile): ReadTile {
  const tiles = new Map<string, ReturnType<ReadTile>>()
  return (name) => {
    const path = tilePath(name)
    const tile = tiles.get(path) ?? readTile(name)
    tiles.set(path, tile)
    return tile
  }
}
