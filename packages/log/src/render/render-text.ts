import type { CapsuleResult } from '../capsule/capsule-result.ts'
import type { Reader } from './reader.ts'
import { describeVerdict, type ReportSection } from './verdict-report.ts'
import { visibleText } from './visible-text.ts'

/** The result for people, as plain text. Its first line is the verdict, a sentence that can be quoted. */
export function renderCapsuleText(result: CapsuleResult, reader: Reader = {}): string {
  const { sentence, facts, sections, details } = describeVerdict(result, reader)
  const shown = details.filter(({ isLong }) => !isLong)
  const lines = [
    sentence,
    ...sections.flatMap(sectionLines),
    ...(facts.length === 0 ? [] : ['', ...facts.map(({ name, value }) => `${name}: ${value}`)]),
    ...shown.flatMap(sectionLines),
  ]
  return `${lines.map(visibleText).join('\n')}\n`
}

function sectionLines({ title, items, text }: ReportSection): string[] {
  const below = text === undefined ? [] : text.split('\n').map((line) => `    ${line}`)
  return ['', `${title}:`, ...items.map((item) => `  - ${item}`), ...below]
}
