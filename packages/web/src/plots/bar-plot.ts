import { html, type Html } from '../template/html.ts'
import { checkSize, HEIGHT, plotFigure, round, WIDTH, writeValue, type Plot, type Series } from './plot.ts'
import { niceTicks } from './scale.ts'

export interface BarPlot extends Plot {
  readonly series: Series
}

/** The part of its room that a bar fills. */
const BAR_WIDTH = 0.72

/** Counts per interval or per category. */
export function barPlot(plot: BarPlot): Html {
  const { labels, series } = plot
  checkSize(plot, [series])
  const ticks = niceTicks(Math.max(0, ...series.values.map((value) => value ?? 0)))
  const top = ticks.at(-1) ?? 1
  const room = WIDTH / labels.length
  const picture = series.values.map((value, index) => {
    const height = round(((value ?? 0) / top) * HEIGHT)
    const x = round((index + (1 - BAR_WIDTH) / 2) * room)
    return html`<rect
      class="bar-1"
      x="${x}"
      y="${round(HEIGHT - height)}"
      width="${round(room * BAR_WIDTH)}"
      height="${height}"
    >
      <title>${labels[index]}: ${writeValue(value, plot)}</title>
    </rect>`
  })
  return plotFigure(plot, { picture, ticks, series: [series] })
}
