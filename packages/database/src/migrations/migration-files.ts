import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'

const FILE_NAME = /^(\d{4})-[a-z0-9-]+\.sql$/u

export interface Migration {
  readonly number: number
  readonly name: string
  readonly sql: string
  /** sha256 of the file: an applied migration is never edited. */
  readonly checksum: string
}

/** The files `0001-NAME.sql` and following of a folder, in order. */
export function readMigrations(folder: URL): Migration[] {
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .toSorted()
  let last = 0
  return files.map((name) => {
    const number = Number(FILE_NAME.exec(name)?.[1])
    if (!(number > last)) throw new Error(`${name}: each migration has a number of its own, from 0001 on`)
    last = number
    const sql = readFileSync(new URL(name, folder), 'utf8')
    return { number, name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
  })
}

/** Names a release by its last migration. */
export function codeLevelOf(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.number ?? 0
}
