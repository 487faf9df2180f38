import { canonicalize, CryptoError, parseStrictJson } from '@agent-exchange/crypto'
import {
  pointerTo,
  validateObject,
  type Failure,
  type PolicyEnvelope,
  type ProtocolObject,
} from '@agent-exchange/protocol'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import { MAXIMUM_DEPTH } from '../objects/content-limits.ts'

export interface ValidInput<T extends ProtocolObject> {
  readonly object: T
  readonly policy: PolicyEnvelope
}

/**
 * Validates object and policy as the recipient will, before any request. Returns copies, so that the caller cannot
 * change them between evaluation, approval and sealing. Callers without types may pass anything.
 */
export function validInput<T extends ProtocolObject>(
  { deployment: { profile } }: AgentContext,
  { object, policy }: ValidInput<T>,
): ValidInput<T> {
  const failures = [
    ...placed(validateObject(object, profile).failures, '/object'),
    ...placed(validateObject(policy, profile).failures, '/policy'),
  ]
  if (failures.length > 0) throw new ExchangeError('object_invalid', { failures })
  return { object: copyOf(object, '/object'), policy: copyOf(policy, '/policy') }
}

function placed(failures: readonly Failure[], place: string): Failure[] {
  return failures.map((failure) => ({ ...failure, pointer: `${place}${failure.pointer}` }))
}

function copyOf<T extends ProtocolObject>(object: T, place: string): T {
  try {
    return parseStrictJson(canonicalize(object), { maxDepth: MAXIMUM_DEPTH }) as unknown as T
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error
    const failure =
      error.code === 'json_depth'
        ? { pointer: tooDeepIn(object, place), message: `Nest at most ${MAXIMUM_DEPTH} levels deep.` }
        : { pointer: place, message: error.message }
    throw new ExchangeError('object_invalid', { cause: error, failures: [{ ...failure, rule: 'O-14' }] })
  }
}

/** The first value below the limit of nesting. Iterative: the value may be nested deeper than the call stack. */
function tooDeepIn(object: ProtocolObject, place: string): string {
  const open: { value: unknown; pointer: string; depth: number }[] = [
    { value: object, pointer: place, depth: 1 },
  ]
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, pointer, depth } = next
    if (typeof value !== 'object' || value === null) continue
    if (depth > MAXIMUM_DEPTH) return pointer
    for (const [name, member] of Object.entries(value))
      open.push({ value: member, pointer: pointerTo(pointer, name), depth: depth + 1 })
  }
  return place
}
