import type { Bed } from './exchange/bed.ts'
import type { Spread } from './statistics.ts'

export type Unit = 'per_second' | 'milliseconds' | 'microseconds' | 'seconds' | 'megabytes'

/** One line of the result. */
export interface Figure {
  /** Unique, in snake case: the name in the JSON file. */
  readonly id: string
  readonly label: string
  readonly value: number
  readonly unit: Unit
  /** Of the repetitions, where there were several. */
  readonly spread?: Spread | undefined
  /** Printed in a table of the area, and not by itself. */
  readonly isInTable?: boolean
  /** A rate that the plot leaves out. */
  readonly isUnplotted?: boolean
  /** Not ours: what ours is held against. */
  readonly isOther?: boolean
  /** What this figure is held against; the ratio is printed beside it. */
  readonly reference?: { readonly name: string; readonly value: number } | undefined
}

/** What is compared between runs and machines. */
export interface Ratio {
  readonly id: string
  readonly label: string
  readonly value: number
  /** How far off it may be, where it is an average over rounds (see `ratioInTurns`). */
  readonly error?: number
  /** What it should come to. Printed, never asserted: a busy machine must not fail anybody. */
  readonly wanted?: { readonly at: 'least' | 'most'; readonly must: number; readonly goal?: number }
  /** Why it is good enough although it is not as wanted. */
  readonly excuse?: string
}

export interface Table {
  readonly title: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

export interface AreaResult {
  readonly title: string
  /** Title in the plot, where its rates are drawn. */
  readonly plot?: string
  readonly figures: readonly Figure[]
  readonly ratios?: readonly Ratio[]
  readonly tables?: readonly Table[]
  /** What the reader must know of these figures, a sentence each. */
  readonly notes: readonly string[]
}

export interface AreaContext {
  readonly quick: boolean
  /** API processes of the service, and of whatever it is held against. */
  readonly workers: number
  /** Says what is being measured now. */
  readonly progress: (what: string) => void
  /** A running exchange that areas share; started when the first of them asks. */
  readonly bed: () => Promise<Bed>
  /** A figure of an area that ran before in this run. */
  readonly earlier: (id: string) => number | undefined
  /** Sizes of stored data for the area `growth`. */
  readonly sizes: readonly number[]
}

/** A part of the system that can be measured by itself. */
export interface Area {
  readonly name: string
  /** One line for `--help`. */
  readonly what: string
  /** Left out by `--quick` unless asked for by name. */
  readonly isLong?: boolean
  readonly run: (context: AreaContext) => Promise<AreaResult>
}
