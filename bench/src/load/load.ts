import { startHelper, type Helper } from '../processes/calls.ts'
import type { LoadCalls } from './load-main.ts'

export type LoadProcess = Helper<LoadCalls>

/** The load generator. */
export function startLoad(): LoadProcess {
  return startHelper<LoadCalls>(new URL('load-main.ts', import.meta.url))
}
