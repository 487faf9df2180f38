import type { Migration } from './migration-files.ts'

export interface TableLock {
  readonly table: string
  /** As PostgreSQL names it, such as `access exclusive`. */
  readonly mode: string
}

/** What a migration declares about running processes. */
export interface MigrationHeader {
  /** `expand` adds, `contract` removes what only older releases use. `undeclared`: older processes must stop first. */
  readonly phase: 'expand' | 'contract' | 'undeclared'
  /** The oldest release that can run on the schema after this migration, named by its last migration. */
  readonly oldestCode: number
  /** Locks on existing tables that block readers or writers. */
  readonly locks: readonly TableLock[]
  /** Rows that a periodic task fills in after this migration. */
  readonly backfill: string | undefined
  /** An SQL condition: the migration waits while it is true. */
  readonly waitsWhile: string | undefined
}

const LINE = /^-- (phase|runs beside|locks|backfill|waits while): (.+)$/u

/**
 * Reads the comment lines at the start of the file. Migrations 0001 to 0009 have none: they were never made to run
 * beside older releases.
 *
 * @throws {Error} if the header is incomplete or malformed
 */
export function headerOf({ number, name, sql }: Migration): MigrationHeader {
  const values = new Map<string, string>()
  for (const line of sql.split('\n')) {
    const [, key, value] = LINE.exec(line) ?? []
    if (key === undefined || value === undefined) break
    values.set(key, value.trim())
  }
  if (values.size === 0)
    return { phase: 'undeclared', oldestCode: number, locks: [], backfill: undefined, waitsWhile: undefined }
  const phase = values.get('phase')
  if (phase !== 'expand' && phase !== 'contract') throw new Error(`${name}: phase is expand or contract`)
  const oldestCode = Number(/^\d{4}$/u.exec(values.get('runs beside') ?? '')?.[0])
  if (!(oldestCode <= number)) throw new Error(`${name}: "runs beside" names the last migration of a release`)
  return {
    phase,
    oldestCode,
    locks: locksIn(values.get('locks') ?? '', name),
    backfill: values.get('backfill'),
    waitsWhile: values.get('waits while'),
  }
}

function locksIn(text: string, name: string): TableLock[] {
  return text
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      const [, table, mode] = /^(\w+) ([a-z ]+)$/u.exec(part) ?? []
      if (table === undefined || mode === undefined) throw new Error(`${name}: "${part}" is not a lock`)
      return { table, mode }
    })
}
