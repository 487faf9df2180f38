import { InvalidArgumentError, Option } from 'commander'

const UNIT_SECONDS = { m: 60, h: 3_600, d: 86_400 } as const
const AGO = /^(\d{1,6})([mhd])$/
const DATE = /^\d{4}-\d\d-\d\d$/

/** Parses a time: UTC, a day, or a duration ago. Returns UTC text. */
function moment(text: string): string {
  const [, count, unit] = AGO.exec(text) ?? []
  const time = count
    ? Date.now() - Number(count) * UNIT_SECONDS[unit as keyof typeof UNIT_SECONDS] * 1_000
    : Date.parse(DATE.test(text) ? `${text}T00:00:00Z` : withOffset(text))
  if (Number.isFinite(time)) return new Date(time).toISOString()
  throw new InvalidArgumentError('Give a UTC time such as 2026-03-01T09:30:00Z, a day, or 30m, 24h, 7d ago.')
}

/** A time without an offset would silently mean local time. */
function withOffset(text: string): string {
  return /T.*(?:Z|[+-]\d\d:\d\d)$/.test(text) ? text : 'no time'
}

/** An option that is a moment. */
export const timeOption = (flags: string, meaning: string) => new Option(flags, meaning).argParser(moment)

export const sinceOption = () =>
  timeOption('--since <time>', 'created at or after: a UTC time, a day, or 30m, 24h, 7d ago')
export const untilOption = () =>
  timeOption('--until <time>', 'created before: a UTC time, a day, or 30m, 24h, 7d ago')
export const endpointOption = () =>
  new Option('--endpoint <webhook_endpoint_id>', 'only those of this endpoint')
