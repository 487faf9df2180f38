import type { LogAnswer, ReadLog } from '../src/log/read-log.ts'

/** A log that breaks one rule. The check of this name must find it. */
export interface LogMutant {
  readonly check: string
  readonly does: string
  /** A new wrapper for each run, because some count requests. */
  readonly mutate: () => (read: ReadLog) => ReadLog
}

const answers =
  (isMeant: (path: string) => boolean, change: (answer: LogAnswer) => LogAnswer): LogMutant['mutate'] =>
  () =>
  (read) =>
  async (path) =>
    isMeant(path) ? change(await read(path)) : read(path)

const flipped = ({ status, bytes }: LogAnswer): LogAnswer => {
  const changed = Uint8Array.from(bytes)
  changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1
  return { status, bytes: changed }
}

const edited =
  (change: (note: string) => string) =>
  ({ status, bytes }: LogAnswer): LogAnswer => ({
    status,
    bytes: new TextEncoder().encode(change(new TextDecoder().decode(bytes))),
  })

const isCheckpoint = (path: string) => path === 'checkpoint'

export const LOG_MUTANTS: readonly LogMutant[] = [
  {
    check: 'log/checkpoint',
    does: 'claims another size than it signed',
    mutate: answers(
      isCheckpoint,
      edited((note) => note.replace(/\n(\d+)\n/u, (_, size) => `\n${Number(size) - 1}\n`)),
    ),
  },
  {
    check: 'log/witnesses',
    does: 'leaves out the cosignatures',
    mutate: answers(
      isCheckpoint,
      edited((note) => note.replace(/(\n\n— [^\n]*\n)[^]*$/u, '$1')),
    ),
  },
  {
    check: 'log/root',
    does: 'serves other hashes at the right edge',
    mutate: answers((path) => /^tile\/0\/.*\.p\//u.test(path), flipped),
  },
  {
    check: 'log/tiles',
    does: 'serves another full tile than the tile above commits to',
    mutate: answers((path) => path === 'tile/0/000', flipped),
  },
  {
    check: 'log/entries',
    does: 'serves an entry that was changed',
    mutate: answers((path) => path.startsWith('tile/entries/'), flipped),
  },
  {
    check: 'log/unchanged',
    does: 'serves a tile with other bytes every second time',
    mutate: () => {
      const reads = new Map<string, number>()
      return (read) => async (path) => {
        const answer = await read(path)
        const count = reads.get(path) ?? 0
        reads.set(path, count + 1)
        return path.startsWith('tile/0/') && answer.status === 200 && count % 2 === 1
          ? flipped(answer)
          : answer
      }
    },
  },
  {
    check: 'log/absent',
    does: 'answers any tile',
    mutate: answers(
      (path) => path.startsWith('tile/'),
      (answer) => ({ status: 200, bytes: answer.bytes }),
    ),
  },
]
