import { html, type Html } from '../template/html.ts'

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
]
const FORMAT = new Intl.RelativeTimeFormat('en', { style: 'short' })

/** Such as "5 min. ago" or "in 3 days". The script of the page computes the same as time passes. */
export function relativeText(at: Date, now: Date): string {
  const seconds = Math.round((at.getTime() - now.getTime()) / 1_000)
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1]
  return FORMAT.format(Math.trunc(seconds / size), unit)
}

/** A time as its distance from now; the exact one is in the attributes. */
export function relativeTime(at: Date, now: Date): Html {
  const exact = at.toISOString()
  return html`<time datetime="${exact}" title="${exact}" data-relative="">${relativeText(at, now)}</time>`
}

/** A time in UTC, to the second. */
export function exactTime(at: Date): Html {
  const exact = at.toISOString()
  return html`<time datetime="${exact}">${exact.replace('T', ' ').replace(/\.\d+Z$/u, ' UTC')}</time>`
}
