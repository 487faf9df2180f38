import type { Answers } from './answers.ts'
import { memberTexts } from './open-members.ts'
import type { ComparedItem } from './story-types.ts'

const IN_USE = {
  options: ['option_id', 'summary'],
  constraints: ['constraint_type', 'scope', 'severity', 'time_impact'],
} as const

/** Options or constraints of all responses, for a table. */
export function comparedItems(part: keyof typeof IN_USE, { responses }: Answers): readonly ComparedItem[] {
  return responses.flatMap(({ object, source, quote }) =>
    (object[part] ?? []).map((item) => ({
      members: memberTexts(item, IN_USE[part]).map(({ name, text }) => ({ name, text: quote(text) })),
      source,
    })),
  )
}
