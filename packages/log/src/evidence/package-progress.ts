import { progression, type PackageState, type TransportMode } from '@agent-exchange/protocol'
import type { FaultCode } from '../verdict/fault-codes.ts'
import { areEqual } from './claims.ts'

/** States that a party has to have signed for. A response is a package of its own and has its own signatures. */
const SIGNED_STATES: ReadonlySet<PackageState> = new Set(['received', 'opened', 'revoked'])

/** A move that an entry claims. */
export interface Move {
  readonly to: unknown
  /** States that it passes on the way. */
  readonly implied: unknown
  /** Whether a verified signature proves it. */
  readonly isSigned: boolean
}

/** PKG-11: where a package is, entry by entry, and how far signatures prove it. */
export class PackageProgress {
  #state: PackageState | undefined
  #signedState: PackageState | undefined
  readonly #order: readonly PackageState[]

  constructor(transport: TransportMode) {
    this.#order = progression(transport)
  }

  get state(): PackageState | undefined {
    return this.#state
  }

  get signedState(): PackageState | undefined {
    return this.#signedState
  }

  /** The acceptance, and the states that were recorded with it; a fault where they do not follow. */
  accept(states: readonly unknown[], isSigned: boolean): FaultCode | undefined {
    if (this.#state !== undefined) return 'accepted_twice'
    const passed = this.#order.slice(0, states.length)
    const isInOrder = states.length > 0 && areEqual(states, passed)
    if (!isInOrder || passed.includes('delivered')) return 'acceptance_states'
    this.#state = passed.at(-1)
    if (isSigned) this.#signedState = 'accepted'
    return undefined
  }

  /** A fault where the move does not follow from the state before, or lacks its signature. */
  move({ to, implied, isSigned }: Move): FaultCode | undefined {
    if (this.#state === undefined) return 'before_acceptance'
    if (this.#state === 'revoked') return 'already_revoked'
    const state = [...this.#order, 'revoked' as const].find((each) => each === to)
    if (state === undefined) return 'unknown_state'
    if (SIGNED_STATES.has(state) && !isSigned) return 'unsigned_state'
    const [here, there] = [this.#order.indexOf(this.#state), this.#order.indexOf(state)]
    if (state !== 'revoked' && there <= here) return 'already_there'
    const passed = state === 'revoked' ? [] : this.#order.slice(here + 1, there)
    if (!areEqual(implied, passed)) return 'states_between'
    this.#state = state
    if (isSigned) this.#signedState = state
    return undefined
  }

  /** PKG-09: an accepted response; further ones change nothing. */
  respond(isSigned: boolean): FaultCode | undefined {
    if (this.#state !== 'responded') {
      const here = this.#order.indexOf(this.#state ?? 'accepted')
      return this.move({ to: 'responded', implied: this.#order.slice(here + 1, -1), isSigned })
    }
    if (isSigned) this.#signedState = 'responded'
    return undefined
  }
}
