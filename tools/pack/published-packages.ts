import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../repository/repository-files.ts'

interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly exports?: object
  readonly imports?: object
  readonly bin?: object
}

/** Of a folder below `packages`. */
export function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(ROOT, 'packages', folder, 'package.json'), 'utf8')) as Manifest
}

export function isPublished(folder: string): boolean {
  return existsSync(join(ROOT, 'packages', folder, 'package.json')) && manifestOf(folder).private !== true
}
