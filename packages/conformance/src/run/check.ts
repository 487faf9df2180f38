import type { Observed } from '../wire/observed.ts'
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
  /** Examines the traffic of all others, so it runs last. */
  readonly last?: true
  /** Throws a Finding where the implementation is wrong. */
  readonly run: (context: C) => Promise<void>
}

export type Verdict = 'pass' | 'fail' | 'skipped'

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
  /** What was wrong, or why the check was skipped. */
  readonly reason?: string
  readonly milliseconds: number
  readonly openPoints: readonly OpenPointObserved[]
  /** The last requests of the check, in order. */
  readonly observed: readonly Observed[]
}
