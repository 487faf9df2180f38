/** What a system may do. None of them approves: a person does. */
export const VERBS = ['read', 'draft', 'send', 'revoke', 'inbox'] as const
export type Verb = (typeof VERBS)[number]

export const isVerb = (text: string): text is Verb => (VERBS as readonly string[]).includes(text)

/** Stands for all agents of the gateway. */
export const ALL_AGENTS = '*'

/** A program of the company that has been identified. */
export interface Caller {
  /** `system_…` for an API key, `token:SUBJECT` for a token of the identity provider. */
  readonly id: string
  readonly kind: 'system' | 'model'
  readonly agents: readonly string[]
  readonly verbs: readonly Verb[]
  /** The claims `iss` and `sub` of a token: perhaps a person, whatever program uses it. */
  readonly holder?: { readonly issuer: string; readonly subject: string }
}

export function mayActFor({ agents }: Caller, agentId: string): boolean {
  return agents.includes(ALL_AGENTS) || agents.includes(agentId)
}

export function may({ verbs }: Caller, verb: Verb): boolean {
  return verbs.includes(verb)
}
