/** The format of the files in vectors/, as described in README.md. */

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

interface VectorHead {
  /** Unique within its file. */
  readonly name: string
  readonly description: string
  readonly input: object
}

export interface ValidVector extends VectorHead {
  readonly expect: 'valid'
  readonly output: object
}

export interface InvalidVector extends VectorHead {
  readonly expect: 'invalid'
  /** The violated requirement, open point or RFC section. */
  readonly rule: string
  /** The stable error code of this project's implementation. */
  readonly code: string
  /** Of a capsule of format 3: all checks that fail. */
  readonly codes?: readonly string[]
}

export type Vector = ValidVector | InvalidVector

export interface VectorFile {
  readonly profile: string
  readonly description: string
  readonly references: readonly string[]
  readonly vectors: readonly Vector[]
}

/** An invalid protocol object; a valid object is published without this wrapper. */
export interface InvalidObject {
  readonly rule: string
  readonly pointer: string
  readonly description: string
  readonly object: object
}

export const VECTORS = join(import.meta.dirname, 'vectors')

export function writeJson(name: string, value: unknown): void {
  const path = join(VECTORS, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${JSON.stringify(value, undefined, 2)}\n`)
}

/** Every JSON file directly in a folder of vectors/, by its name without the extension. */
export function readFolder<T>(folder: string): Map<string, T> {
  const names = readdirSync(join(VECTORS, folder))
    .filter((name) => name.endsWith('.json'))
    .toSorted()
  return new Map(
    names.map((name) => {
      const content: T = JSON.parse(readFileSync(join(VECTORS, folder, name), 'utf8'))
      return [name.slice(0, -'.json'.length), content]
    }),
  )
}
