const [WIDTH, PANEL, MARGIN, LEFT] = [860, 150, 30, 70]

/** Lines over the same time, with one axis. */
export interface Panel {
  readonly title: string
  /** Where the axis ends; higher values are drawn at its end. */
  readonly highest?: number
  readonly lines: readonly { readonly name: string; readonly values: readonly number[] }[]
}

export interface PanelLabels {
  /** What the plot shows, for readers who do not see it. */
  readonly about: string
  /** Below the last panel: what the horizontal axis is. */
  readonly foot: string
}

/** Panels, one below the other, as an SVG document. */
export function plotPanels(panels: readonly Panel[], { about, foot }: PanelLabels): string {
  const height = panels.length * (PANEL + 2 * MARGIN) + MARGIN
  const drawn = panels.map((panel, index) => draw(panel, MARGIN + index * (PANEL + 2 * MARGIN)))
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${about}">
<style>
  svg { background: #fff; font: 13px system-ui, sans-serif } text { fill: #1f2328 }
  path { fill: none; stroke-width: 2 } .axis { stroke: #d1d9e0; stroke-width: 1 }
  .line-0 { stroke: #0969da } .line-1 { stroke: #9a6700; stroke-dasharray: 5 3 }
</style>
${drawn.join('\n')}
<text x="${LEFT}" y="${height - 8}">${foot}</text>
</svg>
`
}

function draw({ title, highest: limit = Infinity, lines }: Panel, top: number): string {
  const highest = Math.min(limit, Math.max(1, ...lines.flatMap(({ values }) => values)))
  const right = WIDTH - MARGIN
  const point = (value: number, index: number, count: number) => {
    const x = LEFT + ((right - LEFT) * index) / Math.max(1, count - 1)
    return `${x.toFixed(1)} ${(top + MARGIN + PANEL * (1 - Math.min(value, highest) / highest)).toFixed(1)}`
  }
  const paths = lines.map(
    ({ values }, index) =>
      `<path class="line-${index}" d="M${values.map((value, at) => point(value, at, values.length)).join('L')}"/>`,
  )
  const legend = lines.map(({ name }, index) => {
    const x = LEFT + 300 + index * 200
    if (name === '') return ''
    return `<path class="line-${index}" d="M${x} ${top + 12}h24"/><text x="${x + 30}" y="${top + 16}">${name}</text>`
  })
  const bottom = top + MARGIN + PANEL
  return [
    `<text x="${LEFT}" y="${top + 16}" font-weight="600">${title}</text>`,
    `<text x="${LEFT - 8}" y="${top + MARGIN + 5}" text-anchor="end">${highest.toFixed(0)}</text>`,
    `<text x="${LEFT - 8}" y="${bottom + 4}" text-anchor="end">0</text>`,
    `<path class="axis" d="M${LEFT} ${bottom}H${right}M${LEFT} ${top + MARGIN}H${right}"/>`,
    ...legend,
    ...paths,
  ].join('\n')
}
