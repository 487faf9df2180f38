import { escaped } from './junit.ts'
import { countsOf, exitCodeOf, type Report } from './report.ts'

const CHARACTER_WIDTH = 6.5
const PADDING = 10
const HEIGHT = 20
const COLORS = { 0: '#116329', 1: '#a40e26', 2: '#57606a' } as const

/** What a badge says, and whoever publishes a result has to say: version, date, profile and counts. */
export function badgeText(report: Report): string {
  const profile = report.profile === undefined ? '' : `, ${report.profile} profile`
  return `aex-conformance ${report.version}, ${report.finishedAt.slice(0, 10)}${profile}: ${countsText(report)}`
}

function countsText(report: Report): string {
  const { passed, failed, errors } = countsOf(report)
  const incomplete = errors > 0 ? `, ${errors} not completed` : ''
  return `${passed} passed, ${failed} failed${incomplete}`
}

/** An SVG image without outside resources. Only a run in which nothing failed is green. */
export function badgeOf(report: Report): string {
  const text = badgeText(report)
  const split = text.indexOf(':')
  const [label, counts] = [text.slice(0, split), text.slice(split + 2)]
  const widthOf = (part: string) => Math.ceil(part.length * CHARACTER_WIDTH) + 2 * PADDING
  const [left, right] = [widthOf(label), widthOf(counts)]
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="${HEIGHT}" role="img" aria-label="${escaped(text)}">
<title>${escaped(text)}</title>
<rect width="${left}" height="${HEIGHT}" fill="#24292f"/>
<rect x="${left}" width="${right}" height="${HEIGHT}" fill="${COLORS[exitCodeOf(report)]}"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="${PADDING}" y="14" textLength="${left - 2 * PADDING}">${escaped(label)}</text>
<text x="${left + PADDING}" y="14" textLength="${right - 2 * PADDING}">${escaped(counts)}</text>
</g>
</svg>
`
}
