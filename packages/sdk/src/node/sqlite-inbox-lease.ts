import type { DatabaseSync } from 'node:sqlite'
import type { Lease } from '../receive/inbox.ts'
import { tryFileLock } from './file-lock.ts'
import type { InboxFile } from './sqlite-inbox-file.ts'

/** The lease as stored. Events are handled in order, one at a time, so an inbox has at most one. */
interface StoredLease {
  readonly event_id: string
  readonly holder: string
  readonly process_id: number
  readonly until: string
  /** Whether the holder also has the lock file: then its death is noticed at once. */
  readonly locked: boolean
}

const NAME = 'lease'

/**
 * The lease of the event that is being handled. Its holder also locks a file beside the inbox. The operating system ends
 * that lock with its process, so the lease of a crashed holder is free at once; that of a frozen one ends with its time.
 */
export class InboxLease {
  readonly #file: InboxFile
  readonly #lockFile: string | undefined
  #lock: { readonly holder: string; readonly database: DatabaseSync } | undefined

  constructor(file: InboxFile, lockFile: string | undefined) {
    this.#file = file
    this.#lockFile = lockFile
  }

  /** In a transaction of the inbox. Returns who else holds the lease, if somebody does. */
  take(eventId: string, { holder, now, until }: Lease): string | undefined {
    const before = this.#read()
    const isForeign = before !== undefined && before.holder !== holder && now < before.until
    if (isForeign && !(before.locked && this.#acquire(holder))) return `process ${before.process_id}`
    const lease: StoredLease = {
      event_id: eventId,
      holder,
      process_id: process.pid,
      until,
      locked: this.#acquire(holder),
    }
    this.#file.setValue(NAME, JSON.stringify(lease))
    return undefined
  }

  /** In the transaction that ends the event. */
  clearFor(eventId: string): void {
    if (this.#read()?.event_id === eventId) this.#clear()
  }

  /** The stored lease goes first: without it, the free lock would look like a crash. */
  async end(holder: string): Promise<void> {
    const mine = () => this.#read()?.holder === holder
    if (await this.#file.read(mine)) await this.#file.change(() => mine() && this.#clear())
    if (this.#lock?.holder === holder) this.unlock()
  }

  unlock(): void {
    this.#lock?.database.close()
    this.#lock = undefined
  }

  #acquire(holder: string): boolean {
    if (this.#lock) return this.#lock.holder === holder
    const database = this.#lockFile === undefined ? undefined : tryFileLock(this.#lockFile)
    if (database) this.#lock = { holder, database }
    return database !== undefined
  }

  #read(): StoredLease | undefined {
    const text = this.#file.value(NAME)
    return text === undefined ? undefined : (JSON.parse(text) as StoredLease)
  }

  #clear(): void {
    this.#file.run('delete from aex_value where name = ?', NAME)
  }
}
