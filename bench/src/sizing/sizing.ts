import { DEFAULT_PROFILE } from '@agent-exchange/protocol'
import { listOf, type Area, type AreaContext, type AreaResult } from '../area.ts'
import { measureLives } from '../disk/measured-lives.ts'
import { formatNumber } from '../report/format-number.ts'
import { BUSY, bytesByKind, FILL, needsOf, PEAK, peakOf, VALID_DAYS } from './needs.ts'

/** How large a machine a number of packages a day needs. */
export const sizingArea: Area = {
  name: 'sizing',
  what: 'CPU and disk of a package with all its requests, and what --per-day packages need',
  isLong: true,
  run,
}

const FULL = { warmUp: 500, packages: 2_000 }
const QUICK = { warmUp: 100, packages: 400 }
const GIGABYTE = 1e9

async function run(context: AreaContext): Promise<AreaResult> {
  const { perDay, quick } = context
  const perSecond = peakOf(perDay)
  const measured = await measureLives(context, { name: 'sizing', perSecond, ...(quick ? QUICK : FULL) })
  const stored = bytesByKind(measured.stored)
  const needs = needsOf(perDay, { ...measured, stored }, DEFAULT_PROFILE['O-18'])
  const { cores } = needs
  return {
    tables: [
      listOf('A package with its six requests and six webhooks', [
        ['sizing_api_cpu_ms', 'CPU of the API, ms', [measured.apiMs]],
        ['sizing_worker_cpu_ms', 'CPU of the worker, ms', [measured.workerMs]],
        ['sizing_postgres_cpu_ms', 'CPU of PostgreSQL, ms', [measured.databaseMs]],
        ...Object.entries(stored).map(([kind, bytes]) => {
          return [`sizing_${kind}_kb`, `${kind}, KB of rows and indexes`, [bytes / 1e3]] as const
        }),
        ['sizing_wal_kb', 'write-ahead log, KB', [measured.walBytes / 1e3]],
      ]),
      listOf(`What ${perDay.toLocaleString('en')} packages a day need`, [
        ['sizing_peak_per_second', 'packages a second at the peak', [needs.peakPerSecond]],
        ['sizing_api_cores', 'cores for API processes, at the peak', [cores.api]],
        ['sizing_worker_cores', 'cores for workers', [cores.worker]],
        ['sizing_postgres_cores', 'cores for PostgreSQL', [cores.database]],
        ['sizing_limited_gb', 'disk for what retention limits, GB', [needs.limitedBytes / GIGABYTE]],
        ['sizing_evidence_gb', 'disk for evidence each year, GB', [needs.evidenceBytesPerYear / GIGABYTE]],
        ['sizing_wal_gb', 'write-ahead log a day, GB', [needs.walBytesPerDay / GIGABYTE]],
      ]),
    ],
    notes: [
      `CPU is measured at ${formatNumber(measured.reached)} packages a second; the peak is ${formatNumber(perSecond)}.`,
      `Assumptions: the busiest hour has ${PEAK} times the average; cores are ${BUSY * 100}% busy then; packages are valid for ` +
        `${VALID_DAYS} days; dead rows and half-empty pages take ${Math.round((FILL - 1) * 100)}% on top; retention is that of the ` +
        'default profile (O-18). A response is another package.',
    ],
  }
}
