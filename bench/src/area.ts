import type { Effort } from './measure.ts'

/** One line of the result. */
export interface Figure {
  /** Unique, in snake case: the name in the JSON file. */
  readonly id: string
  readonly label: string
  readonly perSecond: number
  /** What this figure is held against. */
  readonly reference?: { readonly name: string; readonly perSecond: number } | undefined
}

export interface AreaResult {
  readonly title: string
  readonly figures: readonly Figure[]
  /** What the reader must know of these figures, a sentence each. */
  readonly notes: readonly string[]
}

export interface AreaContext {
  readonly effort: Effort
  /** Says what is being measured now. */
  readonly progress: (what: string) => void
}

/** A part of the system that can be measured by itself; each is a file of this folder. */
export interface Area {
  readonly name: string
  readonly run: (context: AreaContext) => Promise<AreaResult>
}
