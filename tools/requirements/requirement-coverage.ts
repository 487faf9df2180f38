/** Joins requirement ids with the test names that contain them. Pure functions. */

import type { RepositoryFile } from '../repository/repository-files.ts'
import { lineOf, scanSource } from '../repository/source-scan.ts'

export interface Requirement {
  readonly id: string
  readonly area: string
  readonly meaning: string
}

export interface NamedTest {
  readonly ids: readonly string[]
  readonly name: string
  readonly path: string
  readonly line: number
}

export interface Covered extends Requirement {
  readonly tests: readonly Omit<NamedTest, 'ids'>[]
}

interface UnknownId {
  readonly id: string
  readonly nearest: string
  readonly test: NamedTest
}

export interface Coverage {
  readonly requirements: readonly Covered[]
  readonly unknown: readonly UnknownId[]
}

const REQUIREMENT_LINE = /^- ((?<area>[A-Z]+)-\d+) (?<meaning>.+)$/u
const TAG = /\[([A-Z]+-\d{1,3})\]/gu
const LEADING_TAG = /^\[[A-Z]+-\d{1,3}\]/u
const TEST_CALL = /(?<![\w$])(?:test|it|describe|suite)(?:\.\w+)?\s*\(\s*$/u
const CALL_WITH_VARIABLE = /(?<![\w$])(?:test|it|describe|suite)(?:\.\w+)?\s*\(\s*[A-Za-z_$]/u

/** Parses the `- ID meaning` lines. Throws on a duplicate id. */
export function parseRequirements(markdown: string): Requirement[] {
  const found = new Map<string, Requirement>()
  for (const line of markdown.split('\n')) {
    const [, id = '', area = '', meaning = ''] = REQUIREMENT_LINE.exec(line) ?? []
    if (found.has(id)) throw new Error(`${id} is listed twice`)
    if (id) found.set(id, { id, area, meaning })
  }
  return [...found.values()]
}

/**
 * Names with at least one `[ID]`: arguments of test, it, describe or suite and, in a file that passes a variable to
 * them, all strings that start with an id.
 */
export function findNamedTests({ path, text }: RepositoryFile): NamedTest[] {
  const { code, literals } = scanSource(text)
  const hasTable = CALL_WITH_VARIABLE.test(code)
  return literals
    .filter(
      ({ start, text: name }) =>
        TEST_CALL.test(code.slice(Math.max(0, start - 80), start)) || (hasTable && LEADING_TAG.test(name)),
    )
    .map(({ start, text: name }) => ({
      ids: [...new Set([...name.matchAll(TAG)].map(([, id = '']) => id))],
      name,
      path,
      line: lineOf(text, start),
    }))
    .filter(({ ids }) => ids.length > 0)
}

export function coverage(requirements: readonly Requirement[], tests: readonly NamedTest[]): Coverage {
  const known = new Set(requirements.map(({ id }) => id))
  return {
    requirements: requirements.map((requirement) => ({
      ...requirement,
      tests: tests
        .filter(({ ids }) => ids.includes(requirement.id))
        .map(({ name, path, line }) => ({ name, path, line })),
    })),
    unknown: tests.flatMap((test) =>
      test.ids.filter((id) => !known.has(id)).map((id) => ({ id, nearest: nearest(id, [...known]), test })),
    ),
  }
}

export interface AreaCount {
  readonly area: string
  readonly proved: number
  readonly all: number
}

export function countByArea(requirements: readonly Covered[]): AreaCount[] {
  return [...new Set(requirements.map(({ area }) => area))].map((area) => {
    const own = requirements.filter((requirement) => requirement.area === area)
    return { area, proved: own.filter(({ tests }) => tests.length > 0).length, all: own.length }
  })
}

/** The candidate with the smallest edit distance; the first one of equals. */
export function nearest(id: string, candidates: readonly string[]): string {
  const byDistance = candidates.map((candidate) => ({ candidate, distance: editDistance(id, candidate) }))
  return byDistance.toSorted((a, b) => a.distance - b.distance)[0]?.candidate ?? ''
}

/** The Levenshtein distance, computed row by row. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [i, a] of from.split('').entries()) {
    const next = [i + 1]
    for (const [j, b] of to.split('').entries()) {
      const replaced = (row[j] ?? 0) + (a === b ? 0 : 1)
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
