/** What a number of packages a day needs. Pure: measurements in, sizes out. */

import type { DeploymentProfile } from '@agent-exchange/protocol'
import type { MeasuredLives } from '../disk/measured-lives.ts'
import type { Kind, StoredPart } from '../disk/stored-bytes.ts'

export type Bytes = Readonly<Record<Kind, number>>

/** Measured for one package with all its requests and webhooks. */
export interface PerPackage extends Pick<MeasuredLives, 'apiMs' | 'workerMs' | 'databaseMs' | 'walBytes'> {
  readonly stored: Bytes
}

export function bytesByKind(parts: readonly StoredPart[]): Bytes {
  const bytes = { evidence: 0, content: 0, deliveries: 0, notifications: 0, retries: 0 }
  for (const part of parts) bytes[part.kind] += part.bytes
  return bytes
}

/** The busiest hour of a day to its average. */
export const PEAK = 5
/** Cores are planned to be busy for this share at the peak. */
export const BUSY = 0.6
/** Dead rows and half-empty index pages, to live bytes. */
export const FILL = 1.3
/** How long packages are valid: the default of the SDK. */
export const VALID_DAYS = 30
const DAY_SECONDS = 86_400
const YEAR_DAYS = 365

export interface Needs {
  readonly peakPerSecond: number
  /** Cores at the peak. */
  readonly cores: { readonly api: number; readonly worker: number; readonly database: number }
  readonly walBytesPerDay: number
  /** Kept for a limited time: it stops growing after about 90 days. */
  readonly limitedBytes: number
  /** Never deleted. */
  readonly evidenceBytesPerYear: number
}

/** Packages a second in the busiest hour. */
export const peakOf = (perDay: number) => (perDay / DAY_SECONDS) * PEAK

export function needsOf(perDay: number, measured: PerPackage, retention: DeploymentProfile['O-18']): Needs {
  const { stored } = measured
  const peakPerSecond = peakOf(perDay)
  const cores = (milliseconds: number) => (peakPerSecond * milliseconds) / 1_000 / BUSY
  const limited =
    stored.content * (VALID_DAYS + retention.content_days_after_expiry) +
    stored.deliveries * retention.delivery_days +
    stored.notifications * retention.notification_days +
    stored.retries * retention.idempotency_days
  return {
    peakPerSecond,
    cores: {
      api: cores(measured.apiMs),
      worker: cores(measured.workerMs),
      database: cores(measured.databaseMs),
    },
    walBytesPerDay: perDay * measured.walBytes,
    limitedBytes: perDay * limited * FILL,
    evidenceBytesPerYear: perDay * stored.evidence * YEAR_DAYS * FILL,
  }
}
