import { NEED_TEXTS as T } from '../desk/desk-texts.ts'
import type { EffectiveRules } from './effective-rules.ts'

/** What the rules ask for, in sentences for whoever decides. */
export function needsInWords(
  { needs, isRuled, isAuthorKnown }: EffectiveRules,
  nameOf: (personId: string) => string,
): string[] {
  const unknown = isAuthorKnown ? [] : [T.unknownAuthor]
  if (!isRuled) return isAuthorKnown ? [T.unruled] : unknown
  return [...unknown, ...needs.map(({ people, approvers }) => T.ruled(people, approvers.map(nameOf)))]
}
