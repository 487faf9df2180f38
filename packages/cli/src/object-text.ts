import type { ProtocolObject } from '@agent-exchange/protocol'
import {
  inReadingOrder,
  labelOf,
  leadOf,
  outlineOf,
  titleOf,
  type Member,
} from '@agent-exchange/sdk/internal'
import { visible } from './visible.ts'
import { wrapWords } from './wrap-text.ts'

/** Deeper values are shown as JSON. */
const MAXIMUM_DEPTH = 6
const STEP = '  '

/** An object for a person at a terminal, in 80 columns. Members for programs are left out: `--json` prints them. */
export function objectLines(object: ProtocolObject): string[] {
  const lead = leadOf(object)
  const content = outlineOf(object).content.filter(([, value]) => value !== lead)
  return [
    titleOf(object),
    ...paragraph(lead, STEP),
    '',
    ...memberLines(
      content.map(([name, value]) => [name, withoutLead(value, lead)]),
      STEP,
      1,
    ),
  ]
}

/** The lead stands above already. */
function withoutLead(value: unknown, lead: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== lead))
}

function memberLines(members: readonly Member[], indent: string, depth: number): string[] {
  return members.flatMap(([name, value]) => labelled(labelOf(name), value, indent, depth))
}

function labelled(label: string, value: unknown, indent: string, depth: number): string[] {
  const shown = visible(label)
  const text = scalarText(value)
  if (text !== undefined) return paragraph(`${shown}: ${text}`, indent)
  const inner = valueLines(value, indent + STEP, depth + 1)
  return inner.length === 0 ? [`${indent}${shown}: none`] : [`${indent}${shown}`, ...inner]
}

function valueLines(value: unknown, indent: string, depth: number): string[] {
  if (depth > MAXIMUM_DEPTH) return paragraph(JSON.stringify(value), indent)
  if (!Array.isArray(value))
    return memberLines(inReadingOrder(Object.entries(value as object)), indent, depth)
  return (value as unknown[]).flatMap((item) => {
    const text = scalarText(item)
    const lines =
      text === undefined ? valueLines(item, indent + STEP, depth + 1) : paragraph(text, indent + STEP)
    const [first = `${indent}${STEP}none`, ...rest] = lines
    return [`${indent}- ${first.slice(indent.length + STEP.length)}`, ...rest]
  })
}

function scalarText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return typeof value === 'object' && value !== null ? undefined : String(value)
}

/** Line breaks of the text are kept; other control characters are spelled out. */
function paragraph(text: string, indent: string): string[] {
  return text
    .split(/\r?\n/u)
    .flatMap((line) => wrapWords(visible(line).split(' '), { indent, hanging: indent + STEP }))
}
