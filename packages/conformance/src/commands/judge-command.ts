import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Report, reportOf } from '../report/report.ts'
import type { Requirement } from '../requirements/requirement.ts'
import type { CheckResult } from '../run/check.ts'
import type { OptionName, Values } from './options.ts'

export interface Output {
  readonly log: (line: string) => void
  readonly error: (line: string) => void
  readonly colors: boolean
}

export interface JudgeInput {
  /** The words after the name of the command. */
  readonly words: readonly string[]
  readonly values: Values
  /** Those that `--only` names, or all. */
  readonly requirements: readonly Requirement[]
  readonly output: Output
}

/** One subject that the kit judges, as a command. */
export interface JudgeCommand {
  /** Options beyond those of the report. */
  readonly options: readonly OptionName[]
  readonly judge: (input: JudgeInput) => Promise<Report>
}

/** The checks that judge one of the requirements. */
export function wantedChecks<T extends { readonly ids: readonly string[] }>(
  checks: readonly T[],
  requirements: readonly Requirement[],
): readonly T[] {
  return checks.filter(({ ids }) => requirements.some(({ id }) => ids.includes(id)))
}

/** Prints each result as it comes, for a person who waits. */
export const progressOf =
  ({ output }: JudgeInput) =>
  ({ verdict, title }: CheckResult): void => {
    if (output.colors) output.error(`${verdict.padEnd(8)}${title}`)
  }

export function finishedReport(
  subject: Report['subject'],
  judged: string,
  seed: string,
  results: readonly CheckResult[],
  requirements: readonly Requirement[],
  profile?: string,
): Report {
  const finishedAt = new Date().toISOString()
  const run = { subject, judged, version: kitVersion(), seed, finishedAt, results, requirements }
  return reportOf({ ...run, ...(profile !== undefined && { profile }) })
}

function kitVersion(): string {
  const manifest = readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}
