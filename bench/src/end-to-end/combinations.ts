import type { Layout } from '../exchange/delivering-exchange.ts'

/** Packages a second. `full`: 64 clients send as fast as they can. `alone`: no package is under way beside another one. */
export type LoadLevel = 'full' | 250 | 50 | 'alone'

/** One line of the table. */
export interface Combination {
  readonly id: string
  readonly label: string
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
    levels.flatMap((load) =>
      LAYOUTS.map((layout) => ({
        id: `end_to_end_${layout}_fan_out_${fanOut}_${typeof load === 'number' ? `at_${load}` : load}`,
        label: `${layout}, fan-out ${fanOut}, ${typeof load === 'number' ? `${load}/s` : load}`,
        layout,
        fanOut,
        load,
      })),
    ),
  )
}
