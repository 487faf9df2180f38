import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { CheckResult } from './check.ts'
import type { Examined } from './examined-answers.ts'

/** What a run leaves, so that another one can continue it. */
export interface RunState {
  readonly baseUrl: string
  readonly seed: string
  /** Runs so far; ids of a resumed run differ from those before. */
  readonly runs: number
  readonly results: readonly CheckResult[]
  /** What the checks of all answers found so far. */
  readonly examined?: Examined
  /** How far hooks moved the clock of the service, in milliseconds. */
  readonly clockAhead?: number
}

/** Undefined if there is no such file. Throws if it belongs to another service or seed. */
export function readState(path: string, baseUrl: string, seed: string | undefined): RunState | undefined {
  if (!existsSync(path)) return undefined
  const state = JSON.parse(readFileSync(path, 'utf8')) as RunState
  if (state.baseUrl !== baseUrl) throw new Error(`${path} is about ${state.baseUrl}: name another file`)
  if (seed !== undefined && state.seed !== seed)
    throw new Error(`${path} has another seed: name another file`)
  return state
}

/** A reader finds the former state or the new one, never half of it. */
export function writeState(path: string, state: RunState): void {
  const temporary = `${path}.new`
  writeFileSync(temporary, JSON.stringify(state), { mode: 0o600 })
  renameSync(temporary, path)
}
