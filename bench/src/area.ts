import type { TestBed } from './exchange/test-bed.ts'
import type { FlagSet } from './memory/flag-sets.ts'
import type { RatioInterval } from './statistics.ts'
import { ratioInterval } from './statistics.ts'

/** A quantity that every row of a table has. The heading names its unit. */
export interface Column {
  /** In snake case: the JSON file names a figure by row and column. Empty in a table with one column. */
  readonly id: string
  readonly head: string
}

export interface Row {
  readonly id: string
  readonly label: string
  /** Repeated measurements, by column. */
  readonly values: readonly (readonly number[])[]
}

export interface Table {
  readonly title: string
  readonly columns: readonly Column[]
  readonly rows: readonly Row[]
}

/** A column that shows a member of a measurement. */
export interface MemberColumn<Measured> extends Column {
  readonly member: keyof Measured
}

/** Anything that was measured repeatedly. */
export interface Series<Measured> {
  readonly id: string
  readonly label: string
  readonly list: readonly Measured[]
}

/** One row for each series, one column for each of these members. */
export function tableOf<Measured>(
  title: string,
  columns: readonly MemberColumn<Measured>[],
  series: readonly Series<Measured>[],
): Table {
  const rows = series.map(({ id, label, list }) => ({
    id,
    label,
    values: columns.map(({ member }) => list.map((measured) => Number(measured[member]))),
  }))
  return { title, columns, rows }
}

/** A table of single figures; the labels name the units. */
export function listOf(
  title: string,
  figures: readonly (readonly [id: string, label: string, values: readonly number[]])[],
): Table {
  const rows = figures.map(([id, label, values]) => ({ id, label, values: [values] }))
  return { title, columns: [{ id: '', head: 'median' }], rows }
}

/** A target. Printed, never asserted, because a busy machine must not fail a build. */
export interface Wanted {
  readonly at: 'least' | 'most'
  readonly must: number
  readonly goal?: number
}

/** A ratio is comparable between runs and machines. Its interval is known if it is a mean over rounds. */
export interface Ratio extends Partial<RatioInterval> {
  readonly id: string
  readonly label: string
  readonly value: number
  readonly wanted?: Wanted | undefined
  /** Why the ratio is acceptable although it misses its target. */
  readonly excuse?: string | undefined
}

/** The ratio of two quantities that were measured in turns. */
export function ratioOf(
  id: string,
  label: string,
  [values, others]: readonly [readonly number[], readonly number[]],
  wanted?: Wanted,
): Ratio {
  return { id, label, ...ratioInterval(values, others), wanted }
}

export interface AreaResult {
  readonly tables: readonly Table[]
  readonly ratios?: readonly Ratio[]
  /** Explanations of the figures. */
  readonly notes: readonly string[]
  /** Over time, as an SVG document; `--svg` writes it beside the ratios. */
  readonly plot?: { readonly name: string; readonly svg: string }
}

export interface AreaContext {
  readonly quick: boolean
  /** API processes of the service and of the references. */
  readonly workers: number
  /** Reports the current measurement. */
  readonly progress: (what: string) => void
  /** PostgreSQL and exchanges that areas share; started on first use. */
  readonly bed: () => Promise<TestBed>
  /** Measurements of an area that ran before in this run, by the id of their figure. */
  readonly earlier: (id: string) => readonly number[] | undefined
  /** Sizes of stored data for the area `growth`. */
  readonly sizes: readonly number[]
  /** Packages a day for the area `sizing`. */
  readonly perDay: number
  /** Length of the load of the areas `memory` and `steady`, if it was given. */
  readonly minutes: number | undefined
  /** For the area `memory`: undefined for all, empty for none. */
  readonly flagSets: readonly FlagSet[] | undefined
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
