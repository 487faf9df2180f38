import type { Layout } from '../exchange/delivering-exchange.ts'

/** Packages a second; `full` is 64 clients that send as fast as they can. */
export type LoadLevel = 'full' | 250 | 50

/** One line of the table. */
export interface Combination {
  readonly layout: Layout
  readonly fanOut: number
  readonly load: LoadLevel
}

export const LAYOUTS: readonly Layout[] = ['together', 'apart']

/** Receiving organizations by fan-out. */
export const RECEIVERS: ReadonlyMap<number, number> = new Map([
  [1, 16],
  [20, 5],
])

/** Loads by fan-out. */
export type Loads = ReadonlyMap<number, readonly LoadLevel[]>

/** In the order of the table. */
export function combinationsOf(loads: Loads): Combination[] {
  return [...loads].flatMap(([fanOut, levels]) =>
    levels.flatMap((load) => LAYOUTS.map((layout) => ({ layout, fanOut, load }))),
  )
}

/** In snake case, for the JSON file. */
export const idOf = ({ layout, fanOut, load }: Combination) =>
  `end_to_end_${layout}_fan_out_${fanOut}_${load === 'full' ? load : `at_${load}`}`

export const labelOf = ({ layout, fanOut, load }: Combination) =>
  `${layout}, fan-out ${fanOut}, ${load === 'full' ? 'full load' : `${load}/s`}`
