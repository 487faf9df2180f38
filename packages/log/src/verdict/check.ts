import type { CheckCode, ClaimCode } from './check-codes.ts'
import type { FaultCode } from './fault-codes.ts'

/** `unproved`: nothing contradicts it, and nothing proves it. `doubt`: it holds, and a person should look at it. */
export type CheckResult = 'holds' | 'fails' | 'unproved' | 'doubt'

/** What a check or a claim is about. */
export interface About {
  readonly package_id?: string
  /** Of an entry: in the chain of its package, or of its thread in formats 1 and 2. */
  readonly position?: number
  readonly agent_id?: string
  readonly key_id?: string
}

/** Such as an index, a number, or the code of a fault. */
export interface CheckValues {
  readonly fault?: FaultCode
  readonly [name: string]: string | number | undefined
}

/** One check as data. Renderers make sentences of it. */
export interface Check extends About {
  readonly code: CheckCode
  readonly result: CheckResult
  readonly values?: CheckValues
}

/** A claim that the exchange makes and nobody signed, with its value: it may be true, and evidence does not prove it. */
export interface ExchangeClaim extends About {
  readonly code: ClaimCode
  readonly value: unknown
}

/** A verification ends at this number of faults: a hostile file must not make a verifier look for more. */
export const MAXIMUM_FAULTS = 100

/** Ends a verification whose verdict is decided. Never leaves the package. */
export class VerdictReached extends Error {}

type Details = About & { readonly values?: CheckValues }

/** Collects checks and claims while evidence is verified. */
export class Checks {
  readonly all: Check[] = []
  readonly claims: ExchangeClaim[] = []
  #faults = 0
  readonly #place: (about: About) => About

  /** @param place where an entry is shown, by where the verifier found it */
  constructor(place: (about: About) => About = (about) => about) {
    this.#place = place
  }

  add(code: CheckCode, result: CheckResult, { values, ...about }: Details = {}): void {
    this.all.push({ code, result, ...this.#place(about), ...(values && { values }) })
    if (result === 'fails') this.#faults++
    if (this.#faults >= MAXIMUM_FAULTS) throw new VerdictReached()
  }

  holds(code: CheckCode, details?: Details): true {
    this.add(code, 'holds', details)
    return true
  }

  fails(code: CheckCode, details?: Details): false {
    this.add(code, 'fails', details)
    return false
  }

  unproved(code: CheckCode, details?: Details): void {
    this.add(code, 'unproved', details)
  }

  /** Returns the condition. */
  check(code: CheckCode, condition: boolean, details?: Details): boolean {
    this.add(code, condition ? 'holds' : 'fails', details)
    return condition
  }

  /** What only the exchange says. */
  claim(code: ClaimCode, value: unknown, about: About = {}): void {
    this.claims.push({ code, value, ...this.#place(about) })
  }
}
