import { escape } from '@agent-exchange/web/escape'
import type { Ratio } from '../area.ts'
import type { Machine } from './machine.ts'
import { formatNumber } from './format-number.ts'

const WIDTH = 860
const MARGIN = 24
const LABEL_WIDTH = 350
const VALUE_WIDTH = 150
const BAR_WIDTH = WIDTH - 2 * MARGIN - LABEL_WIDTH - VALUE_WIDTH
const ROW = 26
const BAR = 16
const TITLE = 68
const FOOT = 64
/** Ratios are plotted up to this multiple of their target. */
const SCALE = 2
const LEFT = MARGIN + LABEL_WIDTH

/** Each ratio relative to its target. Follows the light or dark theme of the reader. */
export function toSvg(ratios: readonly Ratio[], machine: Machine): string {
  const bars = ratios.flatMap(barOf)
  const height = TITLE + bars.length * ROW + FOOT
  const middle = LEFT + BAR_WIDTH / SCALE
  const foreign = Math.round(100 * Math.max(0, ...Object.values(machine.foreign_cpu)))
  const foot =
    `${machine.cores} cores, ${machine.processor}, Node ${machine.node}, one run; others used up to ${foreign}% ` +
    'of the machine.'
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="Benchmark of Agent Exchange">
<style>
  svg { color-scheme: light dark; background: #fff; font: 13px system-ui, sans-serif }
  text { fill: #1f2328 } .title { font-weight: 600; font-size: 15px } .quiet { fill: #59636e; font-size: 12px }
  .track { fill: #eaeef2 } .reached { fill: #0969da } .missed { fill: #cf222e }
  .mark { stroke: #1f2328; stroke-dasharray: 3 3 }
  @media (prefers-color-scheme: dark) {
    svg { background: #0d1117 } text { fill: #e6edf3 } .quiet { fill: #9198a1 } .track { fill: #21262d }
    .reached { fill: #4493f8 } .missed { fill: #f85149 } .mark { stroke: #e6edf3 }
  }
</style>
<text class="title" x="${MARGIN}" y="${MARGIN + 20}">Ratios; the line is the target, right of it is better</text>
${bars.map((bar, i) => draw(bar, TITLE + i * ROW)).join('\n')}
<line class="mark" x1="${middle}" x2="${middle}" y1="${TITLE - 6}" y2="${TITLE + bars.length * ROW}"/>
<text class="quiet" x="${MARGIN}" y="${height - MARGIN + 4}">${escape(foot)}</text>
</svg>
`
}

interface Bar {
  readonly label: string
  readonly value: string
  /** Of the whole width, 0 to 1. */
  readonly share: number
  readonly kind: 'reached' | 'missed'
}

function barOf({ label, value, wanted, excuse }: Ratio): Bar[] {
  if (!wanted || !Number.isFinite(value)) return []
  const reached = wanted.at === 'least' ? value / wanted.must : wanted.must / value
  return [
    {
      label,
      value: `${formatNumber(value)} (${wanted.at === 'least' ? '≥' : '≤'} ${formatNumber(wanted.must)})`,
      share: Math.min(reached, SCALE) / SCALE,
      kind: reached >= 1 || excuse !== undefined ? 'reached' : 'missed',
    },
  ]
}

function draw({ label, value, share, kind }: Bar, y: number): string {
  const width = Math.max(1, share * BAR_WIDTH).toFixed(1)
  return (
    `<text x="${LEFT - 12}" y="${y + 13}" text-anchor="end">${escape(label)}</text>` +
    `<rect class="track" x="${LEFT}" y="${y}" width="${BAR_WIDTH}" height="${BAR}" rx="3"/>` +
    `<rect class="${kind}" x="${LEFT}" y="${y}" width="${width}" height="${BAR}" rx="3"/>` +
    `<text x="${LEFT + BAR_WIDTH + 12}" y="${y + 13}">${escape(value)}</text>`
  )
}
