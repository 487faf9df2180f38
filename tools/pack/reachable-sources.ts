/** Which sources a package uses itself. Pure: texts in, paths out. */

import { posix } from 'node:path'
import type { RepositoryFile } from '../repository/repository-files.ts'

/** Any relative path in quotes: imports, exports, types, dynamic imports and addresses of modules. */
const RELATIVE = /(['"])(\.{1,2}\/[^'"\n]+?\.ts)\1/gu

/** Sources that no entry leads to: only tests use them, or nobody. */
export function unreachableSources(files: readonly RepositoryFile[], entries: readonly string[]): string[] {
  const texts = new Map(files.map(({ path, text }) => [path, text]))
  const reached = new Set<string>()
  const waiting = [...entries]
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (reached.has(path)) continue
    reached.add(path)
    const text = texts.get(path) ?? ''
    for (const [, , target = ''] of text.matchAll(RELATIVE)) {
      const found = posix.join(posix.dirname(path), target)
      if (texts.has(found)) waiting.push(found)
    }
  }
  return files.map(({ path }) => path).filter((path) => !reached.has(path))
}
