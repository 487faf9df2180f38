import type { Observation } from '../wire/observed.ts'
import type { Answer } from '../wire/wire.ts'
import type { Context } from './context.ts'
import type { HookName } from './hooks.ts'

/** What a check needs beyond three organizations. */
export type Need = 'webhooks' | HookName

export interface Check<C = Context> {
  /** Unique, such as `packages/response-in-another-thread`. */
  readonly name: string
  readonly ids: readonly string[]
  /** What must hold. */
  readonly title: string
  readonly needs?: readonly Need[]
  /** Waits a long time and runs beside the others. */
  readonly background?: true
  /** Concludes from all others, or moves the clock, so it runs last. */
  readonly last?: true
  /** Of a check of all answers: throws a Finding if this one is wrong; false if it is of no interest. */
  readonly examine?: (answer: Answer) => boolean
  /** Throws a Finding where the implementation is wrong. */
  readonly run: (context: C) => Promise<void>
}

/** `error`: the kit, a hook or a connection failed, so nothing was judged. */
export type Verdict = 'pass' | 'fail' | 'error' | 'skipped'

export interface OpenPointObserved {
  /** Such as `O-11`. */
  readonly id: string
  readonly observed: string
}

export interface CheckResult {
  readonly name: string
  readonly ids: readonly string[]
  readonly title: string
  readonly verdict: Verdict
  /** Of a failed check: the requirements that it found broken, if not all of its ids. */
  readonly broken?: readonly string[]
  /** What was wrong, or why nothing was judged. */
  readonly reason?: string
  readonly milliseconds: number
  readonly openPoints: readonly OpenPointObserved[]
  /** The last requests and lines of the check, in order. */
  readonly observed: readonly Observation[]
}
