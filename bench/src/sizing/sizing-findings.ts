import { DEFAULT_PROFILE } from '@agent-exchange/protocol'
import type { AreaResult, Table } from '../area.ts'
import { figureOf } from '../figures.ts'
import { formatNumber } from '../report/units.ts'
import { BUSY, FILL, needsOf, PEAK, VALID_DAYS, type PerPackage } from './needs.ts'

/** Peak resident megabytes of each process. */
export interface Memory {
  readonly api: number
  readonly worker: number
}

export interface SizingFindings {
  readonly perDay: number
  readonly measured: PerPackage
  /** Webhooks that one package causes. */
  readonly deliveries: number
  readonly indexBytes: number
  /** Of evidence. */
  readonly tables: readonly { readonly name: string; readonly bytes: number }[]
  /** Packages a second with all their requests. */
  readonly rates: { readonly wanted: number; readonly reached: number; readonly fullLoad: number }
  readonly memory: Readonly<Record<'rest' | 'loaded' | 'held', Memory>>
}

const REQUESTS = 6
const kilobytes = (bytes: number) => `${formatNumber(bytes / 1e3)} KB`
const gigabytes = (bytes: number) => `${formatNumber(bytes / 1e9)} GB`

export function sizingResult(findings: SizingFindings): AreaResult {
  const { perDay, measured, deliveries, rates, memory } = findings
  const lateness = rates.reached < rates.wanted * 0.9
  return {
    title: `Sizing for ${perDay.toLocaleString('en')} packages a day`,
    figures: [
      figureOf('sizing_api_cpu_ms', 'CPU of the API for a package', 'milliseconds', [measured.apiMs]),
      figureOf('sizing_worker_cpu_ms', 'CPU of the worker', 'milliseconds', [measured.workerMs]),
      figureOf('sizing_postgres_cpu_ms', 'CPU of PostgreSQL', 'milliseconds', [measured.databaseMs]),
      figureOf('sizing_full_load_per_second', 'packages with all requests, full load', 'per_second', [
        rates.fullLoad,
      ]),
      figureOf('sizing_api_memory_mb', 'peak memory of an API process', 'megabytes', [memory.held.api]),
      figureOf('sizing_worker_memory_mb', 'peak memory of a worker', 'megabytes', [memory.loaded.worker]),
    ],
    tables: [storedTable(findings), memoryTable(memory), needsTable(perDay, measured)],
    notes: [
      `A package is one of 12 KB with its ${REQUESTS} requests (policy receipt, submission, lookup, download, two signed ` +
        `receipts) and ${formatNumber(deliveries)} webhooks. A response is another package.`,
      `CPU is measured at ${formatNumber(rates.reached)} packages a second` +
        (lateness
          ? `: this machine did not reach the peak of ${formatNumber(rates.wanted)}.`
          : ', the peak.'),
      `Assumptions: the busiest hour has ${PEAK} times the average; cores are ${BUSY * 100}% busy then; packages are valid for ` +
        `${VALID_DAYS} days; dead rows and half-empty pages take ${Math.round((FILL - 1) * 100)}% on top; retention is that of the ` +
        'default profile (O-18).',
    ],
  }
}

const SHOWN_TABLES = 3

function storedTable({ measured: { stored, walBytes }, indexBytes, tables }: SizingFindings): Table {
  const days = DEFAULT_PROFILE['O-18']
  const largest = tables.toSorted((left, right) => right.bytes - left.bytes).slice(0, SHOWN_TABLES)
  return {
    title: 'Stored for a package: rows and indexes',
    head: ['', 'bytes', 'kept for'],
    rows: [
      ['evidence and log', kilobytes(stored.evidence), 'ever'],
      ...largest.map(({ name, bytes }) => [`  of it ${name}`, kilobytes(bytes), 'ever']),
      [
        'sealed content',
        kilobytes(stored.content),
        `its validity and ${days.content_days_after_expiry} days`,
      ],
      ['deliveries', kilobytes(stored.deliveries), `${days.delivery_days} days`],
      ['notifications', kilobytes(stored.notifications), `${days.notification_days} days`],
      ['responses for retries', kilobytes(stored.retries), `${days.idempotency_days} days`],
      ['of all these, indexes', kilobytes(indexBytes), ''],
      ['write-ahead log', kilobytes(walBytes), 'until it is archived and recycled'],
    ],
  }
}

const memoryRow = (label: string, { api, worker }: Memory) => [label, formatNumber(api), formatNumber(worker)]

function memoryTable({ rest, loaded, held }: SizingFindings['memory']): Table {
  return {
    title: 'Peak resident memory of a process, in MB',
    head: ['', 'API', 'worker'],
    rows: [
      memoryRow('after a few packages', rest),
      memoryRow('after full load', loaded),
      memoryRow('with request bodies up to the limit of O-14', held),
    ],
  }
}

function needsTable(perDay: number, measured: PerPackage): Table {
  const needs = needsOf(perDay, measured, DEFAULT_PROFILE['O-18'])
  const { cores } = needs
  return {
    title: `What ${perDay.toLocaleString('en')} packages a day need`,
    head: ['', 'needed'],
    rows: [
      [
        'packages a second, average and peak',
        `${formatNumber(needs.averagePerSecond)} and ${formatNumber(needs.peakPerSecond)}`,
      ],
      ['cores for API processes, at the peak', formatNumber(cores.api)],
      ['cores for workers', formatNumber(cores.worker)],
      ['cores for PostgreSQL', formatNumber(cores.database)],
      ['disk for what retention limits', gigabytes(needs.limitedBytes)],
      ['disk for evidence, each year', gigabytes(needs.evidenceBytesPerYear)],
      ['disk after the first year', gigabytes(needs.limitedBytes + needs.evidenceBytesPerYear)],
      ['write-ahead log a day', gigabytes(needs.walBytesPerDay)],
    ],
  }
}
