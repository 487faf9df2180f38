import { styleText } from 'node:util'

/** Who acts: the two companies, the exchange between them, or the connectors beside it. */
export type Lane = 'manufacturer' | 'exchange' | 'supplier'

export const LANE_NAMES: Readonly<Record<Lane, string>> = {
  manufacturer: 'Carmaker',
  exchange: 'Exchange',
  supplier: 'Seat supplier',
}

/** What an entry is about; it decides colour and stroke. */
export type Kind = 'package' | 'event' | 'receipt' | 'decision' | 'transfer' | 'proof' | 'note'

/** One thing that happened, as it happened. */
export interface Moment {
  readonly who: Lane
  /** Where it went, if it went somewhere. */
  readonly to?: Lane
  readonly kind: Kind
  /** A few words. */
  readonly what: string
  /** Ids, states, sequence numbers, key ids: what an engineer wants to see. */
  readonly detail?: string
}

export interface TimedMoment extends Moment {
  /** Milliseconds since the story began. */
  readonly at: number
}

export interface Timeline {
  readonly moments: readonly TimedMoment[]
  add(moment: Moment): void
  /** A heading for what follows. */
  chapter(title: string): void
  readonly chapters: readonly { readonly title: string; readonly first: number }[]
}

const COLOURS: Readonly<Record<Kind, 'cyan' | 'yellow' | 'green' | 'magenta' | 'blue' | 'white'>> = {
  package: 'cyan',
  event: 'yellow',
  receipt: 'green',
  decision: 'magenta',
  transfer: 'blue',
  proof: 'green',
  note: 'white',
}

const WHO_WIDTH = Math.max(...Object.values(LANE_NAMES).map((name) => name.length))
const WHERE_WIDTH = WHO_WIDTH + 3

export interface TimelineOptions {
  readonly now: () => number
  readonly print: (line: string) => void
  readonly colour: boolean
  /** Columns of the terminal; longer lines are cut. Unlimited where the output goes elsewhere. */
  readonly columns?: number
}

/** Keeps what happens and prints it at once, one line each. */
export function createTimeline({ now, print, colour, columns }: TimelineOptions): Timeline {
  const started = now()
  const moments: TimedMoment[] = []
  const chapters: { title: string; first: number }[] = []
  const paint = (style: Parameters<typeof styleText>[0], text: string) =>
    colour ? styleText(style, text, { validateStream: false }) : text
  return {
    moments,
    chapters,
    chapter(title) {
      chapters.push({ title, first: moments.length })
      print('')
      print(paint('bold', title))
    },
    add(moment) {
      const timed = { ...moment, at: now() - started }
      moments.push(timed)
      const { lead, what, rest } = partsOf(timed, columns)
      print(`${paint('dim', lead)}${paint(COLOURS[moment.kind], what)}${paint('dim', rest)}`)
    },
  }
}

function partsOf({ at, who, to, what, detail }: TimedMoment, columns = Number.POSITIVE_INFINITY) {
  const time = `${(at / 1_000).toFixed(2).padStart(6)} s`
  const where = to === undefined ? '' : `→ ${LANE_NAMES[to]}`
  const lead = `${time}  ${LANE_NAMES[who].padEnd(WHO_WIDTH)} ${where.padEnd(WHERE_WIDTH)}`
  const room = Math.max(0, columns - lead.length)
  const whole = detail === undefined ? what : `${what}  ${detail}`
  const shown = whole.length > room ? `${whole.slice(0, Math.max(0, room - 1))}…` : whole
  return { lead, what: shown.slice(0, what.length), rest: shown.slice(what.length) }
}

/** An id short enough for a line, long enough to be found again. */
export function short(id: string): string {
  const start = id.indexOf('_') + 1
  const [prefix, tail] = [id.slice(0, start), id.slice(start)]
  return tail.length <= 8 ? id : `${prefix}${tail.slice(0, 6)}…`
}
