import { styleText } from 'node:util'
import type { CheckResult } from '../run/check.ts'
import type { RequirementVerdict } from '../run/verdicts.ts'
import { curlOf } from './curl.ts'
import { countsOf, openPointsOf, type Report } from './report.ts'

const WIDTH = 80
const SIGN = { pass: '✔', fail: '✖', skipped: '–', 'not judged': '·' } as const
const COLOR = { pass: 'green', fail: 'red', skipped: 'yellow', 'not judged': 'gray' } as const
/** A longer body makes a command that nobody reads on a terminal. */
const MAXIMUM_CURL = 600

interface TableOptions {
  readonly colors: boolean
}

/** The report for a terminal of 80 columns: a line for each id, then what failed and what was observed. */
export function tableOf(report: Report, { colors }: TableOptions): string {
  const paint = (verdict: keyof typeof SIGN, text: string) =>
    colors ? styleText(COLOR[verdict], text, { validateStream: false }) : text
  const rows = report.verdicts.map((each) => paint(each.verdict, rowOf(each)))
  const failures = report.results.filter(({ verdict }) => verdict === 'fail').flatMap(failureOf)
  const points = openPointsOf(report).flatMap(([id, observed]) =>
    wrap(`${id.padEnd(5)} open point, observed: ${observed.join('; ')}`, 6),
  )
  const { passed, failed, skipped, notJudged } = countsOf(report)
  return [
    ...rows,
    ...(failures.length > 0 ? ['', ...failures] : []),
    ...(points.length > 0 ? ['', ...points] : []),
    '',
    `${passed} passed, ${failed} failed, ${skipped} skipped, ${notJudged} not judged of this ${report.subject}`,
    `seed ${report.seed}, ${report.results.length} checks`,
  ].join('\n')
}

function rowOf({ requirement, verdict, checks }: RequirementVerdict): string {
  const reason =
    verdict === 'skipped' ? checks[0]?.reason : verdict === 'not judged' ? requirement.unseen : undefined
  const text = reason === undefined ? requirement.sentence : `${verdict}: ${reason}`
  return cut(`${SIGN[verdict]} ${requirement.id.padEnd(8)}${text}`)
}

function failureOf({ ids, title, reason = '', observed }: CheckResult): string[] {
  const last = observed.at(-1)
  const command = last && curlOf(last)
  return [
    ...wrap(`✖ ${ids.join(' ')}: ${title}`, 2),
    ...wrap(`  ${reason}`, 2),
    ...(command === undefined || command.length > MAXIMUM_CURL
      ? []
      : [`  ${command.replaceAll('\n', '\n  ')}`]),
    '',
  ]
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
    } else
      line =
        line === '' && lines.length === 0 && word === '' ? ' ' : `${line}${line === '' ? '' : ' '}${word}`
  }
  return [...lines, line]
}
