/** Each table has one owner file: the only one that writes it. A pure function from the schema and sources to findings. */

import type { Finding } from '../repository/findings.ts'
import type { RepositoryFile } from '../repository/repository-files.ts'
import { findWrites, type TableWrite } from './table-writes.ts'

export interface Exceptions {
  /** Tables that no code writes, each with the reason. */
  readonly unwritten: Readonly<Record<string, string>>
  /** Files that write tables whose names they are given, each with the reason. */
  readonly computed: Readonly<Record<string, string>>
}

const EXCEPTIONS: Exceptions = {
  unwritten: {
    delivery_attempt_default: 'PostgreSQL routes rows of delivery_attempt to it',
    package_content_default: 'PostgreSQL routes rows of package_content to it',
    evidence_version: 'a migration writes its only row',
  },
  computed: {
    'packages/gateway/src/stores/wrapped-rows.ts':
      'rewraps a column for the owner of its table, which names both',
    'packages/service/src/features/retention/partition-rows.ts':
      'moves rows between partitions of one table, which has the same rows afterwards',
  },
}

export interface TableOwners {
  /** From each table to the path of its owner. */
  readonly owners: ReadonlyMap<string, string>
  readonly findings: readonly Finding[]
}

export function checkTableOwners(
  schema: RepositoryFile,
  files: readonly RepositoryFile[],
  { unwritten, computed }: Exceptions = EXCEPTIONS,
): TableOwners {
  const lines = tablesIn(schema.text)
  const writes = files.flatMap(findWrites)
  const known = writes.filter(({ table }) => table !== undefined && lines.has(table))
  const byTable = Map.groupBy(known, ({ table }) => table ?? '')
  const owners = new Map([...byTable].map(([table, own]) => [table, ownerOf(own)]))
  const foreign = known.flatMap(({ path, line, table = '' }) => {
    const owner = owners.get(table)
    if (owner === path) return []
    return [{ path, line, message: `writes ${table}, which ${owner} owns: call a function of that file` }]
  })
  const unclear = writes.flatMap(({ path, line, table, isCertain }) => {
    if (table === undefined && computed[path] === undefined)
      return [{ path, line, message: "writes a computed name: use partitionOf('table', name)" }]
    if (table === undefined || lines.has(table) || !isCertain) return []
    return [
      {
        path,
        line,
        message: `writes ${table}, which ${schema.path} does not have: run npm run generate -- schema`,
      },
    ]
  })
  const unowned = [...lines].flatMap(([table, line]) => {
    if (owners.has(table) === (unwritten[table] === undefined)) return []
    const message = owners.has(table)
      ? `${table} is listed as never written, but ${owners.get(table)} writes it`
      : `${table} has no owner: no file writes it`
    return [{ path: schema.path, line, message }]
  })
  return { owners, findings: [...foreign, ...unclear, ...unowned] }
}

/** From each table to its line. */
function tablesIn(schema: string): Map<string, number> {
  const names = schema.split('\n').map((line, index) => [/^table (\w+)/u.exec(line)?.[1], index + 1] as const)
  return new Map(names.flatMap(([name, line]) => (name === undefined ? [] : [[name, line]])))
}

/** The file with the most writes; of equals a store, then the first by name. */
function ownerOf(writes: readonly TableWrite[]): string {
  const candidates = [...Map.groupBy(writes, ({ path }) => path)].map(([path, own]) => ({
    path,
    rank: own.length + (path.endsWith('store.ts') ? 0.5 : 0),
  }))
  const [owner] = candidates.toSorted((a, b) => b.rank - a.rank || (a.path < b.path ? -1 : 1))
  return owner?.path ?? ''
}
