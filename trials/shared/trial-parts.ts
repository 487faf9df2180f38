import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createReport, type Report } from './report.ts'

export interface TrialTools {
  /** A temporary folder, which is removed at the end. */
  readonly folder: string
  readonly report: Report
}

interface TrialSettings<Name extends string> {
  readonly help: string
  readonly names: readonly Name[]
  /** Parts that run only if they are named. */
  readonly onDemand?: readonly Name[]
  /** Runs these parts in their order. */
  readonly run: (wanted: readonly Name[], tools: TrialTools) => Promise<void>
}

/** Runs the parts of a trial that the command line names, or all of them. Exits with 1 if one of them failed. */
export async function runParts<Name extends string>({
  help,
  names,
  onDemand = [],
  run,
}: TrialSettings<Name>) {
  const given = process.argv.slice(2)
  const unknown = given.find((name) => !(names as readonly string[]).includes(name))
  if (unknown !== undefined) {
    console.log(help)
    if (!/^(?:-h|--help)$/u.test(unknown)) process.exitCode = 2
    return
  }
  const report = createReport()
  const folder = mkdtempSync(join(tmpdir(), 'aex-trials-'))
  // Started by root, PostgreSQL runs as another user, who must reach its own folder.
  chmodSync(folder, 0o711)
  // A signal alone would not run the exit handlers, which end child processes such as the database.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const wanted = names.filter((name) =>
    given.length === 0 ? !onDemand.includes(name) : given.includes(name),
  )
  await run(wanted, { folder, report })
  report.print()
  if (report.failed()) process.exitCode = 1
}
