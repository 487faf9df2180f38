/** Lists the files of the repository by walking it, so that it works without git too. */

import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export const ROOT = resolve(import.meta.dirname, '../..')

/** The entries of .gitignore, plus .git itself. */
const LEFT_OUT = new Set(['.git', 'node_modules', 'dist', 'data', 'tarballs', '.DS_Store'])
const LEFT_OUT_ENDINGS = ['.tsbuildinfo', '.cpuprofile']

export interface RepositoryFile {
  /** From the root, with forward slashes. */
  readonly path: string
  readonly text: string
}

export function listFiles(folder = ROOT, prefix = ''): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !LEFT_OUT.has(name) && !LEFT_OUT_ENDINGS.some((ending) => name.endsWith(ending)))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = prefix + entry.name
      if (entry.isDirectory()) return listFiles(join(folder, entry.name), `${path}/`)
      return entry.isFile() ? [path] : []
    })
}

export function readFiles(wanted: (path: string) => boolean): RepositoryFile[] {
  return listFiles()
    .filter(wanted)
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))
}

/** Tests, fixtures and trials, which are not published. */
export const isTest = (path: string) =>
  /\.(?:test|fixture|browser)\.ts$/u.test(path) || path.startsWith('trials/')
