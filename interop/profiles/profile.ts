import { type Failure, type Named, validatorOf } from '@agent-exchange/protocol'

/** How this project reads the input of one profile's vectors: the output, or a thrown refusal with a code. */
export type Check = (input: object) => Promise<object>

/** The files are ours and their test runs every vector, so the shape of an input is taken on trust. */
export function profile(check: (input: never) => Promise<object>): Check {
  return (input) => check(input as never)
}

/** A refusal that takes more than one function of the packages to reach. */
export class Refusal extends Error {
  readonly code: 'digest_mismatch' | 'schema_invalid'
  readonly rule: string | undefined

  constructor(code: Refusal['code'], rule?: string) {
    super(rule === undefined ? code : `${code} by ${rule}`)
    this.name = 'Refusal'
    this.code = code
    this.rule = rule
  }
}

/** Signed is not yet well formed: what a signature covers must also be what the protocol describes. */
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
