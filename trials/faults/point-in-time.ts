import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { serverUserFor } from '../../packages/database/src/embedded/server-user.ts'
import { startExchange, type Exchange } from '../shared/exchange.ts'
import {
  findInstalledPostgres,
  runProgram,
  serverFolder,
  startInstalledPostgres,
  type InstalledPostgres,
} from '../shared/installed-postgres.ts'
import {
  acknowledged,
  copyLog,
  PUBLIC_QUICK_LOG,
  requirePackages,
  requireRecoveredLog,
  type Parties,
} from './recovered-exchange.ts'
import { killed } from '../shared/serve-process.ts'
import type { Report, Trial } from './trial.ts'

/** Longer than clocks of server and client differ on one machine. */
const APART_MS = 1_100

export const pointInTime: Trial = {
  name: 'point-in-time',
  what: '[AUD-01] a recovery to a point in time keeps all that was acknowledged before; the log signs no fork and continues',
  async run(report) {
    const installed = await findInstalledPostgres()
    if (installed && existsSync(join(installed.bin, 'pg_basebackup')))
      await withFolder((folder) => recoverInstalled(installed, folder, report))
    else report.line('skipped: no PostgreSQL with pg_basebackup is installed, so nothing was tried')
  },
}

async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'aex-pitr-'))
  chmodSync(folder, 0o711)
  writeFileSync(join(folder, 'profile.json'), JSON.stringify(PUBLIC_QUICK_LOG))
  try {
    await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }
}

interface Recovery {
  readonly exchange: Exchange
  readonly backUp: () => Promise<unknown>
  /** Stops the exchange, and starts it on a database of that time. */
  readonly recoverTo: (time: string) => Promise<void>
}

async function tryRecovery({ exchange, backUp, recoverTo }: Recovery, folder: string): Promise<string> {
  const parties: Parties = [await exchange.organization('seats'), await exchange.organization('cars')]
  const kept = [await acknowledged(parties)]
  await backUp()
  kept.push(await acknowledged(parties), await acknowledged(parties))
  await sleep(APART_MS)
  const [row] = await exchange.sql<{ time: string }[]>`
    select to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as time`
  await sleep(APART_MS)
  const lost = [await acknowledged(parties), await acknowledged(parties)]
  const copy = await copyLog(exchange, join(folder, 'mirror'))
  await recoverTo(row?.time ?? '')
  await requirePackages(parties, { kept, lost })
  return `${kept.length} packages kept, ${lost.length} after the target gone; ${await requireRecoveredLog(exchange, parties, copy)}`
}

async function recoverInstalled(installed: InstalledPostgres, folder: string, report: Report): Promise<void> {
  const archive = join(folder, 'archive')
  mkdirSync(archive)
  const user = serverUserFor(archive)
  if (user) chownSync(archive, user.uid, user.gid)
  await using cleanup = new AsyncDisposableStack()
  const archiving = ['archive_mode=on', `archive_command=test ! -f ${archive}/%f && cp %p ${archive}/%f`]
  const primary = cleanup.use(await startInstalledPostgres(installed, { settings: archiving }))
  const env = { AEX_PROFILE: join(folder, 'profile.json') }
  const exchange = cleanup.use(await startExchange({ databaseUrl: primary.url, env }))
  const base = serverFolder('aex-base-')
  const result = await tryRecovery(
    {
      exchange,
      backUp: () =>
        runProgram(installed, 'pg_basebackup', [
          `--dbname=${primary.url}`,
          `--pgdata=${join(base, 'cluster')}`,
          '--wal-method=stream',
          '--checkpoint=fast',
        ]),
      async recoverTo(time) {
        await killed(exchange.current(), 'SIGTERM')
        await primary[Symbol.asyncDispose]()
        const signal = join(base, 'cluster', 'recovery.signal')
        writeFileSync(signal, '')
        if (user) chownSync(signal, user.uid, user.gid)
        const recovered = await startInstalledPostgres(installed, {
          folder: base,
          settings: [
            `restore_command=cp ${archive}/%f %p`,
            `recovery_target_time=${time.replace('Z', '+00')}`,
            'recovery_target_action=promote',
          ],
        })
        cleanup.use(recovered)
        await exchange.start({ DATABASE_URL: recovered.url })
      },
    },
    folder,
  )
  report.line(`PostgreSQL ${installed.version}: ${result}`)
}
