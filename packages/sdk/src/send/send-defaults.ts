import type { PolicyEnvelope } from '@agent-exchange/protocol'
import { ExchangeError } from '../errors.ts'

/** Terms of an agent for calls that name none. */
export interface SendDefaults {
  readonly policy?: PolicyEnvelope
  readonly skill?: { readonly id: string; readonly version: string }
}

type Terms = 'policy' | 'skill'

/** The input of a call whose policy and skill may come from the defaults. */
export type WithDefaults<Input extends Required<SendDefaults>> = Omit<Input, Terms> &
  Partial<Pick<Input, Terms>>

/** Fills in policy and skill. Fails if neither the call nor the agent names them. */
export function completeTerms<Input extends SendDefaults>(
  input: Input,
  defaults: SendDefaults,
): Input & Required<SendDefaults> {
  const policy = input.policy ?? defaults.policy
  const skill = input.skill ?? defaults.skill
  if (!policy || !skill)
    throw new ExchangeError('input_invalid', {
      what: `No ${policy ? 'skill' : 'policy'} was given, and the agent has no default.`,
    })
  return { ...input, policy, skill }
}
