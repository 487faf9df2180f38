import {
  appendLeaves,
  cosignNote,
  EMPTY_EDGE,
  formatCheckpoint,
  formatVerifierKey,
  noteSigner,
  parsePolicy,
  signNote,
  SIGNATURE_TYPE,
  tilePath,
  withSignatures,
  type LogPolicy,
  type NoteSigner,
} from '@agent-exchange/log'
import type { LogAnswer, ReadLog } from './read-log.ts'

const ORIGIN = 'log.example/test'
/** Seconds since 1970. */
const COSIGNED_AT = 1_770_000_000

export interface MemoryLog {
  readonly read: ReadLog
  readonly policy: LogPolicy
  /** Grows at the next request for a checkpoint. */
  growBy: number
  /** Forgets everything and starts another history of the same size under the same key. */
  rewrite(): Promise<void>
}

/** A right log with one witness. */
export async function memoryLog(size: number): Promise<MemoryLog> {
  const signer = await noteSigner(ORIGIN, SIGNATURE_TYPE.ed25519, new Uint8Array(32).fill(1))
  const witness = await noteSigner('witness.example', SIGNATURE_TYPE.cosignature, new Uint8Array(32).fill(2))
  const policy = parsePolicy(
    `log ${formatVerifierKey(signer.key)}\nwitness w ${formatVerifierKey(witness.key)}\nquorum w\n`,
  )
  let history = await historyOf('first', size, signer, witness)
  const log: MemoryLog = {
    policy,
    growBy: 0,
    async rewrite() {
      history = await historyOf('second', size, signer, witness)
    },
    async read(path) {
      if (path === 'checkpoint' && log.growBy > 0) {
        await history.append(log.growBy)
        log.growBy = 0
      }
      return path === 'checkpoint' ? found(history.checkpoint()) : (history.tile(path) ?? MISSING)
    },
  }
  return log
}

const MISSING: LogAnswer = { status: 404, bytes: new Uint8Array() }
const found = (text: string): LogAnswer => ({ status: 200, bytes: new TextEncoder().encode(text) })

async function historyOf(name: string, size: number, signer: NoteSigner, witness: NoteSigner) {
  const tiles = new Map<string, Uint8Array>()
  let edge = EMPTY_EDGE
  let checkpoint = ''
  async function append(count: number): Promise<void> {
    const start = edge.size
    const entries = Array.from({ length: count }, (_, index) =>
      new TextEncoder().encode(`${name} ${start + index}`),
    )
    const appended = appendLeaves(edge, entries)
    edge = appended.edge
    for (const tile of appended.tiles) tiles.set(tilePath(tile), tile.bytes)
    const text = formatCheckpoint({ origin: ORIGIN, size: edge.size, root: appended.root })
    const note = await signNote(text, [signer])
    checkpoint = withSignatures(note, [await cosignNote(note, witness, COSIGNED_AT)])
  }
  await append(size)
  return {
    append,
    checkpoint: () => checkpoint,
    tile: (path: string): LogAnswer | undefined => {
      const bytes = tiles.get(path)
      return bytes && { status: 200, bytes }
    },
  }
}
