import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { testServerUrl } from '@agent-exchange/testkit'
import { openDatabase } from '@agent-exchange/database'
import { ROOT } from '../../tools/repository/repository-files.ts'
import { findInstalledPostgres, startInstalledPostgres } from '../shared/installed-postgres.ts'
import { suiteOutput } from './suite-output.ts'
import type { Report, Trial } from './trial.ts'

/** Tests that cover every kind of SQL; running all tests twice would take too long. */
const QUICK_SUITE = ['database', 'service/src/migrations', 'service/src/http']
const SUITE = [
  ...QUICK_SUITE,
  ...['oauth', 'features/packages', 'features/notifications', 'features/audit'].map(
    (room) => `service/src/${room}`,
  ),
]
const SUITE_LIMIT_MS = 180_000

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
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: SUITE_LIMIT_MS,
  })
  const output = suiteOutput(child)
  await once(child, 'close')
  report.line(`PostgreSQL ${version}: ${output.totals.join(', ') || 'no totals'}`)
  if (child.exitCode === 0) return undefined
  output.said.forEach((line) => report.line(`  ${line}`))
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
