import { styleText } from 'node:util'

/** Who acts: the two companies, the exchange between them, or the connectors beside it. */
export type Lane = 'manufacturer' | 'exchange' | 'supplier'

/** One of the two companies. */
export type Side = Exclude<Lane, 'exchange'>

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
  /** A sentence of a company beside what the exchange saw of it. */
  say(sentence: Sentence): void
  readonly sentences: readonly Sentence[]
}

export interface Sentence {
  readonly who: Side
  /** The plaintext, as the other company read it. */
  readonly said: string
  /** The same package in the storage of the exchange. */
  readonly seen: string
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
  /** Columns of the terminal; longer lines are wrapped. Unlimited if the output is not a terminal. */
  readonly columns?: number
}

/** Keeps what happens and prints it at once. */
export function createTimeline(options: TimelineOptions): Timeline {
  const { now, print, colour, columns = Number.POSITIVE_INFINITY } = options
  const started = now()
  const sentences: Sentence[] = []
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
      const lead = leadOf(timed)
      const room = Math.max(NARROWEST, columns - lead.length)
      const parts = [
        ...wrap(moment.what, room).map((text) => paint(COLOURS[moment.kind], text)),
        ...wrap(moment.detail ?? '', room).map((text) => paint('dim', text)),
      ]
      // Without a limit, what and detail share a line, which is easier to search.
      const lines = Number.isFinite(columns) ? parts : [parts.join('  ')]
      for (const [index, line] of lines.entries())
        print(`${index === 0 ? paint('dim', lead) : ' '.repeat(lead.length)}${line}`)
    },
    sentences,
    say(sentence) {
      sentences.push(sentence)
      const room = Math.max(NARROWEST, columns - SAID_WIDTH)
      const rows = [
        [`${LANE_NAMES[sentence.who]} says`, `“${sentence.said}”`, 'bold'],
        ['the exchange sees', sentence.seen, 'dim'],
      ] as const
      for (const [label, text, style] of rows)
        for (const [index, line] of wrap(text, room).entries())
          print(`${(index === 0 ? label : '').padStart(SAID_WIDTH - 2)}  ${paint(style, line)}`)
    },
  }
}

/** Lines are not made shorter than this. */
const NARROWEST = 24
const SAID_WIDTH = 'Seat supplier says'.length + 2

function leadOf({ at, who, to }: TimedMoment): string {
  const time = `${(at / 1_000).toFixed(2).padStart(6)} s`
  const where = to === undefined ? '' : `→ ${LANE_NAMES[to]}`
  return `${time}  ${LANE_NAMES[who].padEnd(WHO_WIDTH)} ${where.padEnd(WHERE_WIDTH)}`
}

/** Breaks at blanks, and inside words that are longer than a line. */
function wrap(text: string, room: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(/ +/u).flatMap((each) => piecesOf(each, room))) {
    if (line !== '' && line.length + 1 + word.length > room) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return line === '' ? lines : [...lines, line]
}

function piecesOf(word: string, room: number): string[] {
  if (word.length <= room) return [word]
  return Array.from({ length: Math.ceil(word.length / room) }, (_, i) => word.slice(i * room, (i + 1) * room))
}

/** An id short enough for a line, long enough to be found again. */
export function short(id: string): string {
  const start = id.indexOf('_') + 1
  const [prefix, tail] = [id.slice(0, start), id.slice(start)]
  return tail.length <= 8 ? id : `${prefix}${tail.slice(0, 6)}…`
}
