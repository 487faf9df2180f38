import { attributes, html, type Html, type Part } from '../template/html.ts'
import { mark, type Tone } from './tone.ts'

export interface TimelineStep {
  readonly at: Html
  readonly title: string
  readonly tone: Tone
  /** Index of the lane that acted, and of the one that it reached. */
  readonly from: number
  readonly to?: number
  /** Opens below the title, without script. */
  readonly facts?: Part
  /** What followed from it. */
  readonly notes?: readonly TimelineNote[]
}

/** A line below a step, such as an event that it caused, with the attempts to deliver it below that. */
export interface TimelineNote {
  readonly tone: Tone
  readonly text: Part
  readonly facts?: Part
  readonly notes?: readonly TimelineNote[]
}

export interface TimelineGroup {
  readonly label: string
  /** Above its steps: a heading, and what else identifies the group. */
  readonly heading?: Html
  readonly steps: readonly TimelineStep[]
}

export interface Timeline {
  readonly lanes: readonly string[]
  readonly groups: readonly TimelineGroup[]
}

const MAXIMUM_LANES = 6
const MAXIMUM_STEPS = 500
const LANE_WIDTH = 36
/** Where in its row a step is drawn; the lanes continue below, however high the text makes the row. */
const STEP_Y = 22
const ROW_BOTTOM = 10_000

/** What happened between parties, as ordered lists with a strip of lanes beside each entry. The lists say it all. */
export function timeline({ lanes, groups }: Timeline): Html {
  const count = groups.reduce((sum, { steps }) => sum + steps.length, 0)
  if (lanes.length > MAXIMUM_LANES || count > MAXIMUM_STEPS)
    throw new RangeError(`a timeline has at most ${MAXIMUM_LANES} lanes and ${MAXIMUM_STEPS} steps`)
  return html`<ul class="lanes" aria-label="Parties">
      ${lanes.map((name, index) => html`<li>${laneName(index)}<bdi>${name}</bdi></li>`)}
    </ul>
    ${groups.map(({ label, heading, steps }) => {
      const list = html`${heading}${heads(lanes.length)}
        <ol class="steps" aria-label="${label}">
          ${steps.map((step, index) => entry(lanes, step, index === steps.length - 1))}
        </ol>`
      return heading === undefined ? list : html`<section class="group">${list}</section>`
    })}`
}

function laneName(index: number): Html {
  return html`<span class="lane-name">${letter(index)}</span>`
}

/** The letters again, each above its lane. */
function heads(count: number): Html {
  const letters = Array.from(
    { length: count },
    (_value, lane) => html`<text ${attributes({ x: x(lane), y: 12 })}>${letter(lane)}</text>`,
  )
  return html`<svg
    ${attributes({ class: 'heads', width: count * LANE_WIDTH, height: 16, 'aria-hidden': 'true' })}
  >
    ${letters}
  </svg>`
}

function x(lane: number): number {
  return (lane + 0.5) * LANE_WIDTH
}

function letter(index: number): string {
  return String.fromCharCode('A'.charCodeAt(0) + index)
}

function entry(lanes: readonly string[], step: TimelineStep, isLast: boolean): Html {
  const { at, title, tone, from, to, facts, notes = [] } = step
  const target = to === undefined || to === from ? '' : ` to ${lanes[to] ?? ''}`
  const parties = html`<bdi>${lanes[from] ?? ''}</bdi><bdi>${target}</bdi> · ${at}`
  return html`<li class="${tone}">
    ${strip(lanes, step, isLast)}
    <div class="what">
      ${folded(html`<strong>${title}</strong><br /><span class="quiet">${parties}</span>`, facts)}
      ${noteList(notes)}
    </div>
  </li>`
}

function noteList(notes: readonly TimelineNote[]): Html | undefined {
  if (notes.length === 0) return undefined
  const items = notes.map(
    ({ tone, text, facts, notes: below = [] }) =>
      html`<li class="${tone}">
        ${mark()}
        <div>${folded(html`${text}`, facts)} ${noteList(below)}</div>
      </li>`,
  )
  return html`<ul class="notes">
    ${items}
  </ul>`
}

/** A line whose facts open below it. */
function folded(line: Html, facts: Part): Html {
  if (!facts) return html`<p>${line}</p>`
  return html`<details>
    <summary>${line}</summary>
    ${facts}
  </details>`
}

function strip(lanes: readonly string[], { from, to = from }: TimelineStep, isLast: boolean): Html {
  const width = lanes.length * LANE_WIDTH
  const bottom = isLast ? STEP_Y : ROW_BOTTOM
  const lines = lanes.map(
    (_name, lane) =>
      html`<line
        ${attributes({ class: 'lane', x1: x(lane), x2: x(lane), y1: 0, y2: isLast ? STEP_Y + 12 : bottom })}
      ></line>`,
  )
  return html`<svg ${attributes({ width, 'aria-hidden': 'true', focusable: 'false' })}>
    ${lines} ${from === to ? null : arrow(x(from), x(to))}
    <circle ${attributes({ class: 'dot', cx: x(from), cy: STEP_Y, r: 5 })}></circle>
  </svg>`
}

function arrow(start: number, end: number): Html {
  const back = start < end ? -9 : 9
  const head = `${end},${STEP_Y} ${end + back},${STEP_Y - 5} ${end + back},${STEP_Y + 5}`
  return html`<line
      ${attributes({ class: 'arrow', x1: start, x2: end + back, y1: STEP_Y, y2: STEP_Y })}
    ></line>
    <polygon ${attributes({ class: 'head', points: head })}></polygon>`
}
