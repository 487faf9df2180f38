import { readOverviewRoute } from '../operator/routes/overview.ts'
import { runRoute } from '../operator/run-route.ts'
import type { ConsoleDependencies } from './console-dependencies.ts'

const READER = { name: 'console', role: 'viewer' } as const

/** What live regions watch: the overview without what changes by itself as time passes. */
export async function readLiveContent({ operator }: ConsoleDependencies): Promise<object> {
  const request = { operator: READER, params: {}, input: {} }
  const overview = await runRoute(readOverviewRoute, request, operator)
  const { status, backlog, dead_letters, disabled_endpoints, keys, log, hour, processes } = overview
  return {
    facts: [status, backlog, dead_letters, disabled_endpoints, keys],
    log: [log.state, log.published_size, log.witnesses.map(({ outcome }) => outcome)],
    activity: hour.at(-1),
    processes: processes.map(({ process_id }) => process_id),
  }
}
