import type { TestBed } from './exchange/test-bed.ts'
import type { Spread } from './statistics.ts'

export type Unit = 'per_second' | 'milliseconds' | 'microseconds' | 'seconds' | 'megabytes'

/** One line of the result. */
export interface Figure {
  /** Unique, in snake case: the name in the JSON file. */
  readonly id: string
  readonly label: string
  readonly value: number
  readonly unit: Unit
  /** The spread of the repetitions, if there were several. */
  readonly spread?: Spread | undefined
  /** Printed only in a table of the area. */
  readonly isInTable?: boolean
  /** A rate that is not plotted. */
  readonly isUnplotted?: boolean
  /** A reference instead of a result of ours. */
  readonly isOther?: boolean
  /** The reference of this figure; the ratio is printed next to it. */
  readonly reference?: { readonly name: string; readonly value: number } | undefined
}

/** A ratio that is comparable between runs and machines. */
export interface Ratio {
  readonly id: string
  readonly label: string
  readonly value: number
  /** Standard error, if the ratio is an average over rounds (see `ratioInTurns`). */
  readonly error?: number
  /** The target. Printed, never asserted, because a busy machine must not fail a build. */
  readonly wanted?: { readonly at: 'least' | 'most'; readonly must: number; readonly goal?: number }
  /** Why the ratio is acceptable although it misses its target. */
  readonly excuse?: string
}

export interface Table {
  readonly title: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

export interface AreaResult {
  readonly title: string
  /** Title of the plot, if its rates are plotted. */
  readonly plot?: string
  readonly figures: readonly Figure[]
  readonly ratios?: readonly Ratio[]
  readonly tables?: readonly Table[]
  /** Explanations of the figures. */
  readonly notes: readonly string[]
}

export interface AreaContext {
  readonly quick: boolean
  /** API processes of the service and of the references. */
  readonly workers: number
  /** Reports the current measurement. */
  readonly progress: (what: string) => void
  /** A running exchange that areas share; started on first use. */
  readonly bed: () => Promise<TestBed>
  /** A figure of an area that ran before in this run. */
  readonly earlier: (id: string) => number | undefined
  /** Sizes of stored data for the area `growth`. */
  readonly sizes: readonly number[]
  /** Packages a day for the area `sizing`. */
  readonly perDay: number
}

/** A part of the system that can be measured separately. */
export interface Area {
  readonly name: string
  /** One line for `--help`. */
  readonly what: string
  /** Skipped by `--quick` unless named. */
  readonly isLong?: boolean
  readonly run: (context: AreaContext) => Promise<AreaResult>
}
