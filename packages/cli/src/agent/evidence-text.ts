import type { EvidenceCheck, EvidenceReport, ExchangeWord } from '@agent-exchange/sdk'
import { visible } from '../visible.ts'
import { wrapText } from '../wrap-text.ts'

/** A report in 80 columns: verdict, what signatures prove, what only the exchange claims, what is unknown. */
export function evidenceLines(report: EvidenceReport): string[] {
  const { summary, chainEnd, checks } = report
  return [
    ...lines(summary, '', ''),
    ...faultLines(checks),
    ...section('Proved by signatures', signedLines(report)),
    ...section('Consistent with each other', consistentLines(checks)),
    ...section('Only the exchange says (nobody signed it)', wordLines(report.exchangeWord)),
    ...section('Cannot be known from this evidence alone', openLines(report)),
    ...(chainEnd
      ? section(`The chain ends at entry ${chainEnd.position}; keep this for --anchor`, [
          `  ${chainEnd.position}=${visible(chainEnd.hash)}`,
        ])
      : []),
  ]
}

function lines(text: string, indent = '  ', hanging = `${indent}  `): string[] {
  return wrapText(visible(text), { indent, hanging })
}

function section(title: string, inner: readonly string[]): string[] {
  return inner.length === 0 ? [] : ['', `${title}:`, ...inner]
}

function faultLines(checks: readonly EvidenceCheck[]): string[] {
  const faults = checks.filter(({ ok, doubt }) => !ok || doubt)
  return faults.length === 0 ? [] : ['', ...faults.flatMap((check) => lines(faultText(check)))]
}

function faultText({ ok, what, detail, packageId, position }: EvidenceCheck): string {
  const place = [...(packageId === undefined ? [] : [packageId]), ...(position ? [`entry ${position}`] : [])]
  const finding = ok ? `? “${what}” is in doubt` : `✖ “${what}” does not hold`
  return `${finding}: ${detail}${place.length === 0 ? '' : ` (${place.join(', ')})`}`
}

/** By package, with the proved state. */
function signedLines({ states, checks }: EvidenceReport): string[] {
  return states.flatMap(({ packageId, state, signedState }) => {
    const proved = signedState === state ? 'proved' : `proved only as far as ${signedState ?? 'nothing'}`
    const signed = checks.filter((check) => check.ok && check.signedBy && check.packageId === packageId)
    return [
      ...lines(`${packageId}: ${state}, ${proved}`),
      ...signed.flatMap(({ what, detail, signedBy }) => [
        ...lines(`✔ ${what}`, '    ', '      '),
        ...lines(`${signedBy?.agentId ?? ''} ${detail}`, '      ', '      '),
      ]),
    ]
  })
}

function consistentLines(checks: readonly EvidenceCheck[]): string[] {
  const held = checks.filter(({ ok, doubt, signedBy }) => ok && !doubt && !signedBy)
  return [...Map.groupBy(held, ({ what }) => what)].flatMap(([what, all]) => {
    const [first] = all
    return lines(`✔ ${what} (${all.length > 1 ? all.length : (first?.detail ?? '')})`)
  })
}

function wordLines(words: readonly ExchangeWord[]): string[] {
  return [...Map.groupBy(words, ({ what }) => what)].flatMap(([what, all]) => [
    ...lines(`${what}:`),
    ...all
      .toSorted((a, b) => (a.position ?? 0) - (b.position ?? 0))
      .flatMap((word) => lines(wordText(word), '    ', '      ')),
  ])
}

/** Shown with --json only: the rest of audit events, and members without use for a reader. */
const LEFT_OUT = new Set(['event', 'implied_states', 'format', 'use'])

function wordText({ value, packageId, position }: ExchangeWord): string {
  const place =
    position === undefined ? (packageId === undefined ? '' : `${packageId}: `) : `entry ${position}: `
  return `${place}${valueText(value)}`
}

function valueText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  if (Array.isArray(value)) return value.map(valueText).join('; ')
  const eventType: unknown = Reflect.get(Object(Reflect.get(value, 'event')) as object, 'event_type')
  const shown = Object.entries(value).filter(([name]) => !LEFT_OUT.has(name))
  return [
    ...(typeof eventType === 'string' ? [eventType] : []),
    ...shown.map(([name, inner]) => (isObject(inner) ? valueText(inner) : `${name} ${valueText(inner)}`)),
  ]
    .filter((part) => part !== '')
    .join(', ')
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function openLines({ unverifiable }: EvidenceReport): string[] {
  return [...Map.groupBy(unverifiable, ({ what, why }) => `${what}. ${why}`)].flatMap(([text, all]) =>
    lines(`– ${all.length > 1 ? `(${all.length} times) ` : ''}${text}`),
  )
}
