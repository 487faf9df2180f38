import { styleText } from 'node:util'
import type { RequirementVerdict } from '../run/verdicts.ts'
import { commandOf } from './curl.ts'
import { badgeText } from './badge.ts'
import { countsOf, failuresOf, openPointsOf, type Report } from './report.ts'

const WIDTH = 80
const SIGN = { pass: '✔', fail: '✖', error: '!', skipped: '–', 'not judged': '·' } as const
const COLOR = {
  pass: 'green',
  fail: 'red',
  error: 'magenta',
  skipped: 'yellow',
  'not judged': 'gray',
} as const
/** A longer body makes a command that nobody reads on a terminal. */
const MAXIMUM_CURL = 600
/** With more reasons, the commands are in the page only. */
const MAXIMUM_COMMANDS = 3
const GENERATED_ID = /[0-9a-f]{32}/gu

interface TableOptions {
  readonly colors: boolean
}

/** The report for a terminal of 80 columns: a line for each id, then what failed and what was observed. */
export function tableOf(report: Report, { colors }: TableOptions): string {
  const paint = (verdict: keyof typeof SIGN, text: string) =>
    colors ? styleText(COLOR[verdict], text, { validateStream: false }) : text
  const rows = report.verdicts.map((each) => paint(each.verdict, rowOf(each)))
  const failures = failureLines(report)
  const points = openPointsOf(report).flatMap(([id, observed]) =>
    wrap(`${id.padEnd(5)} open point, observed: ${observed.join('; ')}`, 6),
  )
  const { passed, failed, errors, skipped, notJudged } = countsOf(report)
  return [
    ...rows,
    ...(failures.length > 0 ? ['', ...failures] : []),
    ...(points.length > 0 ? ['', ...points] : []),
    '',
    `${passed} passed, ${failed} failed, ${errors} not completed, ${skipped} skipped`,
    `${notJudged} not judged of this ${report.subject}`,
    `seed ${report.seed}, ${report.results.length} checks`,
    ...wrap(badgeText(report), 2),
  ].join('\n')
}

function rowOf({ requirement, verdict, checks }: RequirementVerdict): string {
  const reason =
    verdict === 'not judged'
      ? requirement.unseen
      : verdict === 'skipped' || verdict === 'error'
        ? checks.find((check) => check.verdict === verdict)?.reason
        : undefined
  const text =
    reason === undefined
      ? requirement.sentence
      : `${verdict === 'error' ? 'not completed' : verdict}: ${reason}`
  return cut(`${SIGN[verdict]} ${requirement.id.padEnd(8)}${text}`)
}

/** Checks that failed for the same cause, such as a package that nobody can read, are one entry; the page shows each. */
function failureLines(report: Report): string[] {
  const byCause = Map.groupBy(failuresOf(report), ({ check: { reason = '' } }) => causeOf(reason))
  const isShort = byCause.size <= MAXIMUM_COMMANDS
  return [...byCause.values()].flatMap((failures) => {
    const reason = failures[0]?.check.reason?.replaceAll(GENERATED_ID, '…') ?? ''
    const ids = [...new Set(failures.flatMap((failure) => failure.ids))].join(' ')
    const more = failures.length > 1 ? ` (${failures.length} checks)` : ''
    const last = failures[0]?.check.observed.at(-1)
    const command = last && isShort ? commandOf(last) : ''
    return [
      ...wrap(`✖ ${ids}: ${reason}${more}`, 2),
      ...(command === '' || command.length > MAXIMUM_CURL ? [] : [`  ${command.replaceAll('\n', '\n  ')}`]),
    ]
  })
}

/** An operation that is missing or broken fails many checks by one answer. */
function causeOf(reason: string): string {
  const text = reason.replaceAll(GENERATED_ID, '…')
  return /\b[A-Z]+ \/\S* answered (?:404|5\d\d)\b/u.exec(text)?.[0] ?? text
}

function cut(text: string): string {
  return text.length <= WIDTH ? text : `${text.slice(0, WIDTH - 1)}…`
}

function wrap(text: string, indent: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > WIDTH) {
      lines.push(line)
      line = `${' '.repeat(indent)}${word}`
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
