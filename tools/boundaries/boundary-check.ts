/** Checks source files against the rules of boundary-rules.ts. A pure function from text to findings. */

import { posix } from 'node:path'
import {
  PACKAGE_IMPORTS,
  PACKAGE_LAYERS,
  RESERVED_CODE,
  RESERVED_IMPORTS,
  TEST_ONLY_PACKAGES,
  workspaceOf,
} from './boundary-rules.ts'
import type { Finding } from '../repository/findings.ts'
import type { RepositoryFile } from '../repository/repository-files.ts'
import { isTest } from '../repository/repository-files.ts'
import { lineOf, scanSource } from '../repository/source-scan.ts'

const IMPORT = /(?<![\w$.])(?:from|import)\s*\(?\s*$/u

/** Every static, dynamic, re-exporting or type-only import of a file, with its line. */
export function findImports(text: string): { specifier: string; line: number }[] {
  const { code, literals } = scanSource(text)
  return literals
    .filter(({ start }) => IMPORT.test(code.slice(Math.max(0, start - 40), start)))
    .map(({ start, text: specifier }) => ({ specifier, line: lineOf(text, start) }))
}

export function checkBoundaries({ path, text }: RepositoryFile): Finding[] {
  const imports = findImports(text).flatMap(({ specifier, line }) =>
    importFaults(path, specifier).map((message) => ({ path, line, message })),
  )
  if (isTest(path)) return imports
  const { code } = scanSource(text)
  const reads = RESERVED_CODE.filter((rule) => governs(rule, path)).flatMap((rule) =>
    [...code.matchAll(rule.code)].map(({ index }) => ({
      path,
      line: lineOf(text, index),
      message: rule.why,
    })),
  )
  return [...imports, ...reads]
}

/** Only the package graph applies to tests: they may start servers, read clocks and open files. */
function importFaults(path: string, specifier: string): string[] {
  const target = specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : specifier
  const faults = [packageFault(path, target)]
  if (!isTest(path) || /^packages\/sdk\/.*\.fixture\.ts$/u.test(path)) faults.push(layerFault(path, target))
  if (!isTest(path)) {
    faults.push(
      ...RESERVED_IMPORTS.filter((r) => governs(r, path) && r.imports.test(target)).map((r) => r.why),
    )
  }
  return faults.filter((fault) => fault !== undefined)
}

function packageFault(path: string, target: string): string | undefined {
  const own = packageOf(path)
  const other = workspaceOf(target) ?? packageOf(target)
  if (other === undefined || other === own) return undefined
  const loaders = TEST_ONLY_PACKAGES[other]
  if (loaders !== undefined) {
    const isAllowed = isTest(path) || loaders.some((folder) => path.startsWith(folder))
    return isAllowed ? undefined : `only tests import ${other}`
  }
  // Tests may use the fixtures and the internals of the packages below theirs.
  if (target.startsWith('packages/') && !isTest(path))
    return `import ${other} by its name, not by a path into its folder`
  const allowed = own === undefined ? undefined : PACKAGE_IMPORTS[own]
  if (allowed === undefined || allowed.includes(other)) return undefined
  return `${own} may import ${allowed.length > 0 ? allowed.join(', ') : 'no other package'}, not ${other}`
}

function layerFault(path: string, target: string): string | undefined {
  const own = packageOf(path) ?? ''
  const layers = PACKAGE_LAYERS[own]
  if (layers === undefined || packageOf(target) !== own) return undefined
  const layerOf = (room: string) => layers.findIndex((layer) => layer.includes(room))
  const [fromRoom, toRoom] = [roomOf(path), roomOf(target)]
  const [from, to] = [layerOf(fromRoom), layerOf(toRoom)]
  if (from < 0 || to < 0)
    return `${from < 0 ? fromRoom : toRoom} is in no layer of ${own}: add it to tools/boundaries/boundary-rules.ts`
  if (to <= from) return undefined
  const permitted = layers.slice(0, from + 1).flat()
  return `${fromRoom} may import ${permitted.join(', ')}, not ${toRoom}`
}

/** The folder or file directly below `src` of a package. */
function roomOf(path: string): string {
  return path.split('/')[3] ?? ''
}

function packageOf(path: string): string | undefined {
  const [folder, name] = path.split('/')
  return folder === 'packages' ? name : undefined
}

function governs({ within, except }: { within: readonly string[]; except: readonly string[] }, path: string) {
  const isIn = (place: string) => path.startsWith(place)
  return within.some(isIn) && !except.some(isIn)
}
