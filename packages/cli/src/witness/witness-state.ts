import { DatabaseSync } from 'node:sqlite'
import { refuseCheckpoint, type WitnessedRequest, type WitnessRefusal } from '@agent-exchange/log'

/** How long a request waits for another process that uses the same file. */
const BUSY_MS = 5_000

/** The last checkpoint of each log that this witness cosigned. */
export interface WitnessState extends Disposable {
  /**
   * Compares a checkpoint with the last one and replaces it, in one transaction that is on disk before this returns.
   * Undefined where it was accepted.
   */
  accept(request: WitnessedRequest): WitnessRefusal | undefined
}

interface Row {
  readonly size: number
  readonly root: Uint8Array
}

export function openWitnessState(file: string): WitnessState {
  const database = new DatabaseSync(file, { timeout: BUSY_MS })
  // EXTRA also syncs the folder, so that a power failure cannot bring an older state back.
  database.exec('pragma journal_mode = delete; pragma synchronous = extra;')
  database.exec(
    'create table if not exists log (origin text primary key, size integer not null, root blob not null, note text not null) strict',
  )
  const find = database.prepare('select size, root from log where origin = ?')
  const replace = database.prepare(
    'insert into log (origin, size, root, note) values (?, ?, ?, ?) on conflict (origin) do update set size = excluded.size, root = excluded.root, note = excluded.note',
  )
  return {
    accept(request) {
      const { head, checkpoint } = request
      database.exec('begin immediate')
      try {
        const refusal = refuseCheckpoint(request, find.get(head.origin) as Row | undefined)
        if (!refusal) replace.run(head.origin, head.size, head.root, checkpoint)
        database.exec('commit')
        return refusal
      } catch (error) {
        if (database.isTransaction) database.exec('rollback')
        throw error
      }
    },
    [Symbol.dispose]: () => database.close(),
  }
}
