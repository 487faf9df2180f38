/** Finds the statements of a source file that change rows: insert, update, delete, merge, truncate and COPY. */

import type { RepositoryFile } from '../repository/repository-files.ts'
import { lineOf, scanSource } from '../repository/source-scan.ts'

export interface TableWrite {
  readonly path: string
  readonly line: number
  /** Undefined where the name is computed and not by `partitionOf('table', …)`. */
  readonly table: string | undefined
  /** `update` is an English word and part of other clauses: a name behind it may be anything. */
  readonly isCertain: boolean
}

const STATEMENT =
  /\b(insert\s+into|update|delete\s+from|merge\s+into|truncate(?:\s+table)?)\s+(?:only\s+)?(\w+|\$\{(?:\s*partitionOf\(\s*'(\w+)')?)/giu
/** Functions that write the table whose name is their first argument. */
const WRITERS = /\b(?:copyTarget|wrappedColumn)(?:<[^(]*>)?\(\s*$/u
/** SQL is a template, or a string for `unsafe`. Other strings are prose. */
const SQL = /`$|\bunsafe(?:<[^(]*>)?\(\s*['"]$/u
/** Longest type argument and line break between a function and its first argument. */
const CONTEXT = 200

export function findWrites({ path, text }: RepositoryFile): TableWrite[] {
  const { code, literals } = scanSource(text)
  const found = new Map<number, TableWrite>()
  for (const { start, text: literal } of literals) {
    const before = code.slice(Math.max(0, start - CONTEXT), start)
    if (WRITERS.test(before))
      found.set(start, { path, line: lineOf(text, start), table: literal, isCertain: true })
    if (!SQL.test(before + code.charAt(start))) continue
    for (const { index, 1: verb = '', 2: name = '', 3: partitioned } of literal.matchAll(STATEMENT)) {
      const at = start + 1 + index
      const table = name.startsWith('${') ? partitioned : name
      // A template inside another one is part of both.
      found.set(at, { path, line: lineOf(text, at), table, isCertain: /\s/u.test(verb) })
    }
  }
  return [...found.values()]
}
