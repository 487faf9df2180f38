import type { CheckCode } from '@agent-exchange/log'
import { type Failure, type Named, validatorOf } from '@agent-exchange/protocol'

/** Maps the input of a vector to our result: the output, or an error with a code. */
export type Check = (input: object) => Promise<object>

/** The files are ours and every vector is tested, so the type of an input is not checked. */
export function profile(check: (input: never) => Promise<object>): Check {
  return (input) => check(input as never)
}

/** An error that needs more than one function of our packages. */
export class Refusal extends Error {
  readonly code: 'digest_mismatch' | 'schema_invalid' | CheckCode
  readonly rule: string | undefined

  constructor(code: Refusal['code'], rule?: string) {
    super(rule === undefined ? code : `${code} by ${rule}`)
    this.name = 'Refusal'
    this.code = code
    this.rule = rule
  }
}

/** A capsule of format 3 that contradicts itself or its log: the codes of all checks that fail. */
export class FailingChecks extends Error {
  readonly codes: readonly string[]

  constructor(codes: readonly string[]) {
    super(codes.join(', '))
    this.name = 'FailingChecks'
    this.codes = codes
  }
}

/** A signed document must also match its schema. */
export function requireSchema(schema: Named<unknown>, value: unknown): void {
  requireNone(validatorOf(schema)(value))
}

export function requireNone(failures: readonly Failure[]): void {
  const [first] = failures
  if (first !== undefined) throw new Refusal('schema_invalid', first.rule)
}

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

export function fromUtf8(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
}
