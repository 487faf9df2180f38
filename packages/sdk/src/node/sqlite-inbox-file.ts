import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { ExchangeError } from '../errors.ts'
import { INBOX_SCHEMA, INBOX_VERSION } from './sqlite-inbox-schema.ts'

/** How long to wait for another process that holds the file. */
const BUSY_MS = 5_000
const OWNER_ONLY = 0o600
/** SQLite's name for an in-memory database. */
export const IN_MEMORY = ':memory:'

/** The open database with prepared statements. Every failure is an `inbox_unavailable`. */
export class InboxFile {
  readonly database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  constructor(file: string) {
    try {
      if (file !== IN_MEMORY) makeFile(file)
      this.database = new DatabaseSync(file, { timeout: BUSY_MS })
      this.database.exec('pragma journal_mode = wal; pragma synchronous = full')
      this.#transaction(() => {
        this.database.exec(INBOX_SCHEMA)
        const version = this.value('version')
        if (version === undefined) this.setValue('version', INBOX_VERSION)
        else if (version !== INBOX_VERSION) throw new Error(`the inbox is of version ${version}`)
      })
    } catch (cause) {
      throw unavailable(cause)
    }
  }

  all<Row>(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#statement(sql).all(...values) as Row[]
  }

  /** Returns the number of changed rows. */
  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#statement(sql).run(...values).changes)
  }

  value(name: string): string | undefined {
    const [row] = this.all<{ value: string }>('select value from aex_value where name = ?', name)
    return row?.value
  }

  number(name: string, otherwise = 0): number {
    return Number(this.value(name) ?? otherwise)
  }

  setValue(name: string, value: string | number): void {
    this.run('insert or replace into aex_value (name, value) values (?, ?)', name, String(value))
  }

  async read<T>(work: () => T): Promise<T> {
    try {
      return work()
    } catch (cause) {
      throw unavailable(cause)
    }
  }

  /** Runs the work in a durable transaction. */
  change<T>(work: () => T): Promise<T> {
    return this.read(() => this.#transaction(work))
  }

  close(): void {
    if (this.database.isOpen) this.database.close()
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (!statement) this.#statements.set(sql, (statement = this.database.prepare(sql)))
    return statement
  }

  /** `begin immediate`, so that concurrent processes wait instead of failing at the first write. */
  #transaction<T>(work: () => T): T {
    this.database.exec('begin immediate')
    try {
      const result = work()
      this.database.exec('commit')
      return result
    } catch (error) {
      if (this.database.isTransaction) this.database.exec('rollback')
      throw error
    }
  }
}

/** Created before SQLite opens it, with mode 0600, which -wal and -shm inherit. */
function makeFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true })
  closeSync(openSync(file, 'a', OWNER_ONLY))
}

function unavailable(cause: unknown): ExchangeError {
  if (cause instanceof ExchangeError) return cause
  const what = 'The inbox file cannot be used; check the disk, the permissions and who else has it open.'
  return new ExchangeError('inbox_unavailable', { what, cause, retryable: true })
}
