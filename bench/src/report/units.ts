import type { Unit } from '../area.ts'

const SUFFIX: Readonly<Record<Unit, string>> = {
  per_second: '/s',
  milliseconds: 'ms',
  microseconds: 'µs',
  seconds: 's',
  megabytes: 'MB',
}

/** A value as people read it. */
export function formatValue(value: number, unit: Unit): string {
  return `${formatNumber(value)} ${SUFFIX[unit]}`
}

/** Three significant digits. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return '–'
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en')
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2)
}
