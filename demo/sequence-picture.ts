import { attributes, html, type Html } from '@agent-exchange/web'
import { LANE_NAMES, type Lane, type TimedMoment, type Timeline } from './timeline.ts'

const LANES: readonly Lane[] = ['manufacturer', 'exchange', 'supplier']
const WIDTH = 900
const HEAD = 56
const ROW = 30
const MARGIN = 150
const GAP = (WIDTH - 2 * MARGIN) / (LANES.length - 1)
const ARROW = 7
const LONGEST_LABEL = 44

const x = (lane: Lane) => MARGIN + LANES.indexOf(lane) * GAP

/** Everything that went from one to another, as a sequence diagram in SVG, in the order it happened. */
export function sequencePicture({ moments, chapters }: Pick<Timeline, 'moments' | 'chapters'>): Html {
  const rows = moments.flatMap((moment, index) => [
    ...chapters
      .filter(({ first }) => first === index)
      .map(
        ({ title }) =>
          (y: number) =>
            heading(title, y),
      ),
    ...(moment.to === undefined || moment.to === moment.who ? [] : [(y: number) => arrow(moment, y)]),
  ])
  const height = HEAD + ROW * (rows.length + 1)
  const lanes = LANES.map(
    (lane) =>
      html`<line
          ${attributes({ class: 'life', x1: x(lane), y1: HEAD - 14, x2: x(lane), y2: height - 10 })}
        ></line>
        <rect ${attributes({ class: 'head', x: x(lane) - 70, y: 10, width: 140, height: 32, rx: 6 })}></rect>
        <text ${attributes({ class: 'name', x: x(lane), y: 31 })}>${LANE_NAMES[lane]}</text>`,
  )
  return html`<svg
    class="sequence"
    viewBox="0 0 ${WIDTH} ${height}"
    role="img"
    aria-label="Sequence of what was exchanged"
  >
    ${lanes} ${rows.map((draw, index) => draw(HEAD + ROW * (index + 0.8)))}
  </svg>`
}

function heading(title: string, y: number): Html {
  return html`<text ${attributes({ class: 'chapter', x: 8, y })}>${title}</text>`
}

function arrow({ who, to = who, what, kind, at }: TimedMoment, y: number): Html {
  const [from, end] = [x(who), x(to)]
  const direction = Math.sign(end - from)
  const tip = `${end},${y} ${end - direction * ARROW},${y - 4} ${end - direction * ARROW},${y + 4}`
  const label = what.length > LONGEST_LABEL ? `${what.slice(0, LONGEST_LABEL - 1)}…` : what
  return html`<g class="${kind}">
    <title>${(at / 1_000).toFixed(2)} s: ${what}</title>
    <line ${attributes({ class: 'arrow', x1: from, y1: y, x2: end - direction * ARROW, y2: y })}></line>
    <polygon ${attributes({ points: tip })}></polygon>
    <text ${attributes({ x: (from + end) / 2, y: y - 6 })}>${label}</text>
  </g>`
}
