import { html, type Html } from '../template/html.ts'
import { checkSize, HEIGHT, plotFigure, round, WIDTH, writeValue, type Plot, type Series } from './plot.ts'
import { niceTicks } from './scale.ts'

export interface LinePlot extends Plot {
  readonly series: readonly Series[]
}

/** Values over time. Series differ by dash pattern as well as by colour; a gap in the data is a gap in the line. */
export function linePlot(plot: LinePlot): Html {
  const { series } = plot
  checkSize(plot, series)
  const ticks = niceTicks(
    Math.max(0, ...series.flatMap(({ values }) => values.filter((value) => value !== null))),
  )
  const top = ticks.at(-1) ?? 1
  const picture = series.map(
    ({ values }, index) => html`<path class="line series-${index + 1}" d="${pathOf(values, top)}"></path>`,
  )
  return plotFigure(plot, { picture, ticks, series, legend: legendOf(plot) })
}

function pathOf(values: readonly (number | null)[], top: number): string {
  let isDrawing = false
  let path = ''
  for (const [index, value] of values.entries()) {
    if (value !== null) {
      const point = `${round(((index + 0.5) / values.length) * WIDTH)} ${round((1 - value / top) * HEIGHT)}`
      // A line of no length shows a single value between two gaps as a dot.
      path += isDrawing ? `L${point}` : `M${point}L${point}`
    }
    isDrawing = value !== null
  }
  return path
}

function legendOf(plot: LinePlot): Html {
  const items = plot.series.map(
    ({ name, values }, index) =>
      html`<li>
        <svg viewBox="0 0 30 10" aria-hidden="true">
          <path class="line series-${index + 1}" d="M1 5H29"></path></svg
        >${name} <span class="quiet">${writeValue(values.at(-1), plot)}</span>
      </li>`,
  )
  return html`<ul class="legend">
    ${items}
  </ul>`
}
