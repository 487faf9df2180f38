/** Files that import each other in a circle, imports of types included: neither can be read or moved without the other. */

import { posix } from 'node:path'
import { findImports } from './boundary-check.ts'
import type { Finding } from '../repository/findings.ts'
import type { RepositoryFile } from '../repository/repository-files.ts'

interface Import {
  readonly target: string
  readonly line: number
}
type ImportGraph = ReadonlyMap<string, readonly Import[]>

/** One finding for each group of files that reach each other, with a shortest circle in it. */
export function findCircles(files: readonly RepositoryFile[]): Finding[] {
  const graph = importGraph(files)
  const reported = new Set<string>()
  return [...graph.keys()].toSorted().flatMap((path) => {
    if (reported.has(path)) return []
    const circle = shortestCircle(graph, path)
    if (circle === undefined) return []
    for (const member of circle) reported.add(member)
    const [, next = path] = circle
    const line = graph.get(path)?.find(({ target }) => target === next)?.line ?? 1
    return { path, line, message: `imports in a circle: ${circle.join(' → ')}` }
  })
}

function importGraph(files: readonly RepositoryFile[]): ImportGraph {
  const paths = new Set(files.map(({ path }) => path))
  return new Map(
    files.map(({ path, text }) => {
      const imports = findImports(text)
        .filter(({ specifier }) => specifier.startsWith('.'))
        .map(({ specifier, line }) => ({ target: posix.join(posix.dirname(path), specifier), line }))
      return [path, imports.filter(({ target }) => paths.has(target))]
    }),
  )
}

/** Breadth first from the file back to itself; undefined if no import leads back. */
function shortestCircle(graph: ImportGraph, start: string): string[] | undefined {
  const cameFrom = new Map<string, string>()
  let edge = [start]
  while (edge.length > 0) {
    const next: string[] = []
    for (const path of edge)
      for (const { target } of graph.get(path) ?? []) {
        if (target === start) return [...pathTo(cameFrom, path), start]
        if (cameFrom.has(target)) continue
        cameFrom.set(target, path)
        next.push(target)
      }
    edge = next
  }
  return undefined
}

function pathTo(cameFrom: ReadonlyMap<string, string>, end: string): string[] {
  const path = [end]
  for (let at = cameFrom.get(end); at !== undefined; at = cameFrom.get(at)) path.unshift(at)
  return path
}
