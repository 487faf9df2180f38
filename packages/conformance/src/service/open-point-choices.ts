import type { OpenPoints } from '../run/context.ts'

/** Digests that differ. What the kit sends is canonical, so `jwe-text` is the same as `jcs-jwe`. */
export const DIGEST_RULES = ['jcs-jwe', 'ciphertext-bytes']
const KNOWN_RULES = new Set([...DIGEST_RULES, 'jwe-text'])
/** Whether the signature of a statement covers the package id as well. */
export const STATEMENT_FORMS = ['bound', 'plain']

/** Which bytes the digest covers is an open point (O-17): the first rule that the deployment and the kit know. */
export function digestRuleOf(openPoints: OpenPoints): string | undefined {
  const rules: unknown = openPoints['O-17']?.['content_digest_rules']
  return Array.isArray(rules) ? rules.find((rule) => KNOWN_RULES.has(rule)) : undefined
}

/** What a statement covers is an open point (O-22): the form that the deployment and the kit know. */
export function statementFormOf(openPoints: OpenPoints): string | undefined {
  const forms: unknown = openPoints['O-22']?.['accepted_forms']
  return Array.isArray(forms) ? STATEMENT_FORMS.find((form) => forms.includes(form)) : undefined
}
