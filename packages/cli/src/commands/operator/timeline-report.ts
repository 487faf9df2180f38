import { visible } from '../../visible.ts'
import { wrapWords } from '../../wrap-text.ts'
import { description } from './table.ts'

/** A step of a timeline in the operator API. */
export interface ShownStep {
  readonly at: string
  readonly what: string
  readonly outcome: string
  readonly from: string
  readonly to?: string
  readonly facts: Readonly<Record<string, unknown>>
}

/** A package or a thread with its timeline. */
export interface ShownTimeline {
  readonly [fact: string]: unknown
  readonly steps: readonly ShownStep[]
  readonly is_complete: boolean
}

const MARKS: Readonly<Record<string, string>> = { good: '+', bad: '!', pending: '…' }
const INDENT = ' '.repeat(16)

/** The facts of a package or thread, then what happened, in lines of 80 columns where ids permit. */
export function timelineReport(shown: ShownTimeline): string {
  const { steps, is_complete, ...facts } = shown
  const days = [...Map.groupBy(steps, ({ at }) => at.slice(0, 10))]
  const parts = days.map(([day, ofDay]) => [`${day} (UTC)`, ...ofDay.flatMap(stepLines)].join('\n'))
  const note = is_complete ? [] : ['There is more than one timeline shows: look up deliveries by their ids.']
  return [description(facts), ...parts, ...note].join('\n\n')
}

function stepLines({ at, what, outcome, from, to, facts }: ShownStep): string[] {
  const time = at.slice(11, 23)
  const parties = to === undefined ? from : `${from} → ${to}`
  const first = `${time}  ${MARKS[outcome] ?? '-'} `
  return [
    ...wrapWords(visible(what).split(' '), { indent: first, hanging: INDENT }),
    ...wrapWords(visible(parties).split(' '), { indent: INDENT, hanging: INDENT }),
    ...Object.entries(facts).flatMap(([name, value]) => factLines(name, value)),
  ]
}

function factLines(name: string, value: unknown): string[] {
  // A list has a line for each item, such as the position and hash of an evidence entry.
  const texts = Array.isArray(value)
    ? value.map((item) => `${name} ${wordsOf(item)}`)
    : [`${name} ${wordsOf(value)}`]
  return texts.flatMap((text) =>
    wrapWords(visible(text).split(' '), { indent: INDENT, hanging: `${INDENT}  ` }),
  )
}

function wordsOf(value: unknown): string {
  return typeof value === 'object' && value !== null ? Object.values(value).join(' ') : String(value)
}
