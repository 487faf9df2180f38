import { escape } from '@agent-exchange/web/escape'
import type { AreaResult, Ratio } from '../area.ts'
import type { Machine } from './machine.ts'
import { formatNumber, formatValue } from './units.ts'

const WIDTH = 860
const MARGIN = 24
const LABEL_WIDTH = 350
const VALUE_WIDTH = 150
const BAR_WIDTH = WIDTH - 2 * MARGIN - LABEL_WIDTH - VALUE_WIDTH
const ROW = 26
const BAR = 16
const TITLE = 44
const FOOT = 40
/** Ratios are plotted up to this multiple of their target. */
const RATIO_SCALE = 2

interface Bar {
  readonly label: string
  readonly value: string
  /** Of the whole width, 0 to 1. */
  readonly share: number
  readonly kind: 'ours' | 'other' | 'missed'
}

interface Panel {
  readonly title: string
  readonly bars: readonly Bar[]
  /** A line across all bars, at this share of the width. */
  readonly mark?: number
}

/** Bars for the rates, and one panel for the ratios. Follows the light or dark theme of the reader. */
export function toSvg(results: readonly AreaResult[], machine: Machine): string {
  const ratios = results.flatMap((result) => result.ratios ?? [])
  const panels = [...results.flatMap(panelOf), ...ratioPanel(ratios)]
  let top = MARGIN
  const drawn = panels.map((panel) => {
    const text = drawPanel(panel, top)
    top += TITLE + panel.bars.length * ROW + MARGIN
    return text
  })
  const height = top + FOOT
  const foreign = Math.round(100 * Math.max(0, ...Object.values(machine.foreign_cpu)))
  const foot =
    `${machine.cores} cores, ${machine.processor}, Node ${machine.node}, one run; others used up to ${foreign}% ` +
    'of the machine. Compare ratios, not figures.'
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="Benchmark of Agent Exchange">
<style>
  svg { color-scheme: light dark; background: #fff; font: 13px system-ui, sans-serif }
  text { fill: #1f2328 } .title { font-weight: 600; font-size: 15px } .quiet { fill: #59636e; font-size: 12px }
  .track { fill: #eaeef2 } .ours { fill: #0969da } .other { fill: #8c959f } .missed { fill: #cf222e }
  .mark { stroke: #1f2328; stroke-dasharray: 3 3 }
  @media (prefers-color-scheme: dark) {
    svg { background: #0d1117 } text { fill: #e6edf3 } .quiet { fill: #9198a1 } .track { fill: #21262d }
    .ours { fill: #4493f8 } .other { fill: #6e7681 } .missed { fill: #f85149 } .mark { stroke: #e6edf3 }
  }
</style>
${drawn.join('\n')}
<text class="quiet" x="${MARGIN}" y="${height - MARGIN + 4}">${escape(foot)}</text>
</svg>
`
}

function panelOf({ plot, figures }: AreaResult): Panel[] {
  const rates = figures.filter(({ unit, isUnplotted }) => unit === 'per_second' && !isUnplotted)
  if (plot === undefined || rates.length === 0) return []
  const most = Math.max(...rates.map(({ value }) => value))
  const bars = rates.map(({ label, value, unit, isOther }): Bar => ({
    label,
    value: formatValue(value, unit),
    share: value / most,
    kind: isOther ? 'other' : 'ours',
  }))
  return [{ title: plot, bars }]
}

/** Each ratio relative to its target: right of the line is better. */
function ratioPanel(ratios: readonly Ratio[]): Panel[] {
  const bars = ratios.flatMap(({ label, value, wanted, excuse }): Bar[] => {
    if (!wanted || !Number.isFinite(value)) return []
    const reached = wanted.at === 'least' ? value / wanted.must : wanted.must / value
    return [
      {
        label,
        value: `${formatNumber(value)} (${wanted.at === 'least' ? '≥' : '≤'} ${formatNumber(wanted.must)})`,
        share: Math.min(reached, RATIO_SCALE) / RATIO_SCALE,
        kind: reached >= 1 || excuse !== undefined ? 'ours' : 'missed',
      },
    ]
  })
  const title = 'Ratios; the line is the target, right of it is better'
  return bars.length === 0 ? [] : [{ title, bars, mark: 1 / RATIO_SCALE }]
}

function drawPanel({ title, bars, mark }: Panel, top: number): string {
  const left = MARGIN + LABEL_WIDTH
  const first = top + TITLE
  const rows = bars.map(({ label, value, share, kind }, i) => {
    const y = first + i * ROW
    const width = Math.max(1, share * BAR_WIDTH).toFixed(1)
    return (
      `<text x="${left - 12}" y="${y + 13}" text-anchor="end">${escape(label)}</text>` +
      `<rect class="track" x="${left}" y="${y}" width="${BAR_WIDTH}" height="${BAR}" rx="3"/>` +
      `<rect class="${kind}" x="${left}" y="${y}" width="${width}" height="${BAR}" rx="3"/>` +
      `<text x="${left + BAR_WIDTH + 12}" y="${y + 13}">${escape(value)}</text>`
    )
  })
  const x = left + (mark ?? 0) * BAR_WIDTH
  const line =
    mark === undefined
      ? ''
      : `<line class="mark" x1="${x}" x2="${x}" y1="${first - 6}" y2="${first + bars.length * ROW}"/>`
  return `<text class="title" x="${MARGIN}" y="${top + 20}">${escape(title)}</text>\n${rows.join('\n')}${line}`
}
