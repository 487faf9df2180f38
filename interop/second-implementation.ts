/**
 * Runs the second implementation (Python with jwcrypto) on the published vectors, and verifies what it seals and signs.
 * It installs nothing: it reports a missing jwcrypto and stops.
 */

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { compareVerdicts } from './capsule-verdicts.ts'
import { checkVector, isProfileName } from './check-vector.ts'
import type { Vector } from './vector-file.ts'

interface Report {
  readonly profile: string
  readonly valid: number
  readonly invalid: number
  readonly disagreements: readonly string[]
}

interface Produced {
  readonly profile: string
  readonly vector: Vector
}

/** The Python of Debian sees packages of Debian even if another `python3` is first on the PATH. */
const INTERPRETERS = ['python3', '/usr/bin/python3']

/** Edits are many and Python is slow: every 20th, or all of them with `--all-edits`. */
const EVERY_NTH_EDIT = process.argv.includes('--all-edits') ? 1 : 20

const python = INTERPRETERS.find((name) => spawnSync(name, ['-c', 'import jwcrypto']).status === 0)
if (python === undefined) {
  console.log('skipped: no Python with jwcrypto here, so no second implementation to compare with.')
  console.log('To run it, install the package (on Debian: apt-get install python3-jwcrypto) and try again.')
} else if ((await disagreements(python)) > 0) process.exitCode = 1

async function disagreements(interpreter: string): Promise<number> {
  const version = "import jwcrypto.jwk, importlib.metadata as m; print(m.version('jwcrypto'))"
  console.log(`Second implementation: jwcrypto ${run(interpreter, '-c', version).trim()}, ${interpreter}\n`)
  const read = whatItReads(JSON.parse(run(interpreter, script('check_vectors.py'))))
  const made = await whatItMade(JSON.parse(run(interpreter, script('produce_vectors.py'))))
  const found = read + made + (await whatItSaysOfEdits(interpreter))
  console.log(found === 0 ? '\nBoth agree on everything.' : `\nDisagreements: ${found}`)
  return found
}

/** The second implementation checks our vectors. */
function whatItReads(reports: readonly Report[]): number {
  console.log('It agrees with the published vectors:')
  for (const { profile, valid, invalid, disagreements: found } of reports) {
    mark(found.length === 0, `${profile}: ${valid} valid, ${invalid} invalid`)
    for (const line of found) console.log(`    ${line}`)
  }
  return reports.reduce((sum, report) => sum + report.disagreements.length, 0)
}

/** Both verify a capsule of format 3 after single edits. */
async function whatItSaysOfEdits(interpreter: string): Promise<number> {
  console.log('\nIt gives the same verdict on capsules after single edits:')
  const { edited, forged, differing } = await compareVerdicts(interpreter, EVERY_NTH_EDIT)
  mark(differing.length === 0, `${edited} edited, ${forged} edited and logged again`)
  for (const line of differing) console.log(`    ${line}`)
  return differing.length
}

/** We check vectors of the second implementation. */
async function whatItMade(produced: readonly Produced[]): Promise<number> {
  console.log('\nIt seals and signs, and is understood here:')
  let failed = 0
  for (const { profile, vector } of produced) {
    const problem = await problemWith(profile, vector)
    mark(problem === undefined, `${profile}: ${vector.name}`)
    if (problem === undefined) continue
    failed++
    console.log(`    ${problem}`)
  }
  return failed
}

async function problemWith(profile: string, vector: Vector): Promise<string | undefined> {
  if (!isProfileName(profile)) return 'there is no such profile'
  return checkVector(profile, vector).then(
    () => undefined,
    (error: unknown) => String(error),
  )
}

function mark(agreed: boolean, line: string): void {
  console.log(`  ${agreed ? '✔' : '✖'} ${line}`)
}

function script(name: string): string {
  return join(import.meta.dirname, 'python', name)
}

function run(interpreter: string, ...args: string[]): string {
  // -B: write no compiled files.
  const { status, stdout, stderr, error } = spawnSync(interpreter, ['-B', ...args], {
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
    timeout: 120_000,
  })
  if (status !== 0) throw new Error(`${args[0]} did not finish: ${error?.message ?? stderr}`)
  return stdout
}
