import { canonicalize, CryptoError, parseStrictJson } from '@agent-exchange/crypto'
import {
  validateObject,
  type Failure,
  type PolicyEnvelope,
  type ProtocolObject,
} from '@agent-exchange/protocol'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import { MAXIMUM_DEPTH } from './exchange-limits.ts'

export interface ValidInput<T extends ProtocolObject> {
  readonly object: T
  readonly policy: PolicyEnvelope
}

/**
 * Validates object and policy as the recipient will, before any request. Returns copies, so that the caller cannot
 * change them between evaluation, approval and sealing. Callers without types may pass anything.
 */
export function validInput<T extends ProtocolObject>(
  { profile }: AgentContext,
  { object, policy }: ValidInput<T>,
): ValidInput<T> {
  const failures = [
    ...placed(validateObject(object, profile).failures, '/object'),
    ...placed(validateObject(policy, profile).failures, '/policy'),
  ]
  if (failures.length > 0) throw new ExchangeError('object_invalid', { failures })
  return { object: copyOf(object), policy: copyOf(policy) }
}

function placed(failures: readonly Failure[], place: string): Failure[] {
  return failures.map((failure) => ({ ...failure, pointer: `${place}${failure.pointer}` }))
}

function copyOf<T extends ProtocolObject>(object: T): T {
  try {
    return parseStrictJson(canonicalize(object), { maxDepth: MAXIMUM_DEPTH }) as unknown as T
  } catch (error) {
    if (error instanceof CryptoError) throw new ExchangeError('object_invalid', { cause: error })
    throw error
  }
}
