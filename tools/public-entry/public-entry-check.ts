/** Holds the public entries of the SDK against the committed list of their names, and programs for users against both. */

import { exportsOf, namesIn, type EntryExports } from './entry-exports.ts'
import type { Finding } from '../repository/findings.ts'
import type { RepositoryFile } from '../repository/repository-files.ts'

export const LIST = 'packages/sdk/public-entry.json'
/** The files behind the public entries. Any other entry of the SDK promises nothing. */
const ENTRIES: Readonly<Record<string, string>> = {
  '@agent-exchange/sdk': 'packages/sdk/src/index.ts',
  '@agent-exchange/sdk/node': 'packages/sdk/src/node/index.ts',
}
/** Values of all public entries together. */
const MAXIMUM_VALUES = 30

export type PublicNames = Readonly<Record<string, EntryExports>>

/** What the entries export, by their names. */
export function readEntries(read: (path: string) => string): PublicNames {
  return Object.fromEntries(Object.entries(ENTRIES).map(([name, path]) => [name, exportsOf(read(path))]))
}

/** The difference between the entries and the list, a line for each name. */
export function checkNames(found: PublicNames, listed: PublicNames): Finding[] {
  const differences = Object.keys(ENTRIES).flatMap((entry) =>
    (['values', 'types'] as const).flatMap((kind) => {
      const [now, before] = [found[entry]?.[kind] ?? [], listed[entry]?.[kind] ?? []]
      const added = now.filter((name) => !before.includes(name))
      const removed = before.filter((name) => !now.includes(name))
      return [
        ...added.map(
          (name) => `+ ${name} (${kind} of ${entry}): list it, or export it from an internal entry`,
        ),
        ...removed.map(
          (name) => `- ${name} (${kind} of ${entry}): users lose it; if that is meant, remove it`,
        ),
      ].map((message) => ({ path: LIST, line: 1, message }))
    }),
  )
  const count = Object.values(found).reduce((sum, { values }) => sum + values.length, 0)
  const tooMany = { path: LIST, line: 1, message: `${count} public values; the limit is ${MAXIMUM_VALUES}` }
  return count > MAXIMUM_VALUES ? [...differences, tooMany] : differences
}

const IMPORT = /\bimport\s+(?:type\s+)?(?:\{([^}]*)\}|[^'"{}]+)\s+from\s+'(@agent-exchange\/sdk[^']*)'/gu
const TYPESCRIPT_BLOCK = /^```ts\n([\s\S]*?)^```/gmu

/** Examples and documents import only names of the public entries. */
export function checkUse({ path, text }: RepositoryFile, found: PublicNames): Finding[] {
  const blocks = path.endsWith('.md')
    ? [...text.matchAll(TYPESCRIPT_BLOCK)].map(({ index, 1: code = '' }) => ({
        code,
        start: index + '```ts\n'.length,
      }))
    : [{ code: text, start: 0 }]
  return blocks.flatMap(({ code, start }) =>
    [...code.matchAll(IMPORT)].flatMap(({ index, 1: list = '', 2: entry = '' }) => {
      const line = text.slice(0, start + index).split('\n').length
      const names = found[entry]
      if (names === undefined) return [{ path, line, message: `${entry} is no public entry` }]
      const known = new Set([...names.values, ...names.types])
      return namesIn(list)
        .filter(({ name }) => !known.has(name))
        .map(({ name }) => ({ path, line, message: `${entry} does not export ${name}` }))
    }),
  )
}
