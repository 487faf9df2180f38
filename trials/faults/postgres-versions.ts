import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { testServerUrl } from '@agent-exchange/testkit'
import { openDatabase } from '@agent-exchange/database'
import { findInstalledPostgres, startInstalledPostgres } from '../shared/installed-postgres.ts'
import type { Report, Trial } from './trial.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** Tests that cover every kind of SQL; running all tests twice would take too long. */
const QUICK_SUITE = ['database', 'service/src/migrations', 'service/src/http']
const SUITE = [
  ...QUICK_SUITE,
  ...['oauth', 'features/packages', 'features/notifications', 'features/audit'].map(
    (room) => `service/src/${room}`,
  ),
]
const SUITE_LIMIT_MS = 180_000
const REPORTED_LINES = 60

export const postgresVersions: Trial = {
  name: 'postgres-versions',
  what: "a representative part of the service's tests passes on the embedded PostgreSQL and on an installed one",
  async run(report) {
    const faults = [await runSuite(await testServerUrl(), report)]
    const installed = await findInstalledPostgres()
    if (installed) {
      await using server = await startInstalledPostgres(installed)
      faults.push(await runSuite(server.url, report))
    } else report.line('skipped: no PostgreSQL is installed on this machine, so the second half did not run')
    const failed = faults.filter((fault) => fault !== undefined)
    if (failed.length > 0) throw new Error(failed.join('; '))
  },
}

/** Returns the failure, if any. */
async function runSuite(url: string, report: Report): Promise<string | undefined> {
  const version = await versionOf(url)
  const suite = report.quick ? QUICK_SUITE : SUITE
  const paths = suite.map((folder) => `packages/${folder}/`)
  const child = spawn(process.execPath, ['tools/tests/run-tests.ts', ...paths], {
    cwd: ROOT,
    env: { ...process.env, TESTKIT_POSTGRES: url },
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: SUITE_LIMIT_MS,
  })
  const failed: string[] = []
  const totals: string[] = []
  let isFault = false
  createInterface({ input: child.stdout }).on('line', (line) => {
    // What failed, and the indented lines about it.
    isFault = line.startsWith('✖') || (isFault && line.startsWith('    '))
    if (isFault && failed.length < REPORTED_LINES) failed.push(line)
    if (/^ℹ (?:tests|pass|fail) /u.test(line)) totals.push(line.slice(2))
  })
  await once(child, 'close')
  report.line(`PostgreSQL ${version}: ${totals.join(', ') || 'no totals'}`)
  failed.forEach((line) => report.line(`  ${line}`))
  if (child.exitCode === 0) return undefined
  const how =
    child.signalCode === null ? `exit ${child.exitCode}` : `stopped after ${SUITE_LIMIT_MS / 1_000} s`
  return `the suite failed on PostgreSQL ${version}: ${how}`
}

async function versionOf(url: string): Promise<string> {
  const sql = openDatabase({ target: url, maximumConnections: 1, applicationName: 'faults' })
  const [row] = await sql<{ version: string }[]>`select current_setting('server_version') as version`
  await sql.end()
  return row?.version ?? 'unknown'
}
