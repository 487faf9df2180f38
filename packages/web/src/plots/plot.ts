import { html, type Html } from '../template/html.ts'
import { table } from '../components/table.ts'
import { labelIndexes } from './scale.ts'

export interface Plot {
  readonly title: string
  /** What a value counts, such as "deliveries per minute". */
  readonly unit: string
  /** Along the horizontal axis, one for each value. */
  readonly labels: readonly string[]
  /** What the labels are, for the table of values. Defaults to "Time". */
  readonly labelTitle?: string
  /** How a value is written, for instance with its unit. Defaults to digits in groups. */
  readonly format?: (value: number) => string
}

export interface Series {
  readonly name: string
  /** From zero on, one for each label; null where nothing was measured. */
  readonly values: readonly (number | null)[]
}

/** More points than pixels help nobody, and the table below has a row for each. */
const MAXIMUM_POINTS = 360
/** As many as have a dash pattern of their own. */
const MAXIMUM_SERIES = 4
/** The coordinates of a picture; it is stretched to whatever room there is. */
export const WIDTH = 1_000
export const HEIGHT = 100

export function checkSize({ labels }: Plot, series: readonly Series[]): void {
  if (labels.length === 0 || labels.length > MAXIMUM_POINTS || series.length > MAXIMUM_SERIES)
    throw new RangeError(`a plot has 1 to ${MAXIMUM_POINTS} points and at most ${MAXIMUM_SERIES} series`)
  if (series.some(({ values }) => values.length !== labels.length))
    throw new RangeError('a series has one value for each label')
}

export function writeValue(value: number | null | undefined, { format = defaultFormat }: Plot): string {
  return value === null || value === undefined ? '–' : format(value)
}

const NUMBER = new Intl.NumberFormat('en', { maximumFractionDigits: 2 })
const defaultFormat = (value: number) => NUMBER.format(value)

export interface Drawing {
  readonly picture: readonly Html[]
  readonly ticks: readonly number[]
  readonly series: readonly Series[]
  readonly legend?: Html
}

/** Caption, axes and legend around a picture, and the same values as a table. */
export function plotFigure(plot: Plot, { picture, ticks, series, legend }: Drawing): Html {
  return html`<figure class="plot">
    <figcaption>${plot.title} <span class="quiet">${plot.unit}</span></figcaption>
    <div class="area">
      <div class="y" aria-hidden="true">
        ${ticks.toReversed().map((tick) => html`<span>${writeValue(tick, plot)}</span>`)}
      </div>
      <svg
        viewBox="0 0 ${WIDTH} ${HEIGHT}"
        preserveAspectRatio="none"
        role="img"
        aria-label="${summary(plot, series)}"
      >
        ${gridLines(ticks.length)}${picture}
      </svg>
      <div class="x" aria-hidden="true">
        ${labelIndexes(plot.labels.length).map((index) => html`<span>${plot.labels[index]}</span>`)}
      </div>
    </div>
    ${legend}
    <details>
      <summary>Values as a table</summary>
      <div tabindex="0" role="region" aria-label="Values of ${plot.title}">${valueTable(plot, series)}</div>
    </details>
  </figure>`
}

function gridLines(count: number): Html[] {
  return Array.from({ length: count }, (_value, index) => {
    const y = round((index / (count - 1)) * HEIGHT)
    return html`<line class="grid" x1="0" x2="${WIDTH}" y1="${y}" y2="${y}"></line>`
  })
}

/** Short numbers make short pages. */
export function round(coordinate: number): number {
  return Math.round(coordinate * 10) / 10
}

function valueTable(plot: Plot, series: readonly Series[]): Html {
  return table({
    caption: `${plot.title}, ${plot.unit}`,
    hidesCaption: true,
    columns: [
      { title: plot.labelTitle ?? 'Time' },
      ...series.map(({ name }) => ({ title: name, isNumeric: true })),
    ],
    rows: plot.labels.map((label, index) => [
      label,
      ...series.map(({ values }) => writeValue(values[index], plot)),
    ]),
  })
}

function summary(plot: Plot, series: readonly Series[]): string {
  const parts = series.map(({ name, values }) => {
    const known = values.filter((value) => value !== null)
    const highest = known.length === 0 ? null : Math.max(...known)
    return `${name}: latest ${writeValue(values.at(-1), plot)}, highest ${writeValue(highest, plot)}`
  })
  return `${plot.title}, ${plot.unit}. ${parts.join('; ')}. The table below has every value.`
}
