import type { EffectiveRules } from './effective-rules.ts'

/** What the rules ask for, in sentences for whoever decides. */
export function needsInWords(
  { needs, isRuled, isAuthorKnown }: EffectiveRules,
  nameOf: (personId: string) => string,
): string[] {
  const unknown = isAuthorKnown ? [] : ['It is not known who wrote this draft: two people must approve.']
  if (!isRuled && isAuthorKnown)
    return ['No rule fits this draft: one approver is enough, and never whoever wrote it.']
  if (!isRuled) return unknown
  const ruled = needs.map(({ people, approvers }) => {
    const count = people === 1 ? 'One person' : `${people} people`
    const who = approvers.length > 0 ? ` of ${approvers.map(nameOf).join(', ')}` : ''
    return `${count}${who} must approve, and never whoever wrote it.`
  })
  return [...unknown, ...ruled]
}
