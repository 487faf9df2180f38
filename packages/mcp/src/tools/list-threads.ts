import { Type } from 'typebox'
import { MAXIMUM_LISTED } from '../mcp-limits.ts'
import { defineTool, READS } from '../server/tool.ts'
import { inputOf, listLimit, packageId, threadIdText, timeText } from './common-schemas.ts'

export const listThreads = defineTool({
  name: 'list_threads',
  title: 'List threads',
  verb: 'read',
  description:
    'Lists the threads that this agent has events of, the latest first. Call list_inbox first to fetch new events; see the packages of a thread with follow_thread.',
  input: inputOf({ limit: listLimit(MAXIMUM_LISTED) }),
  output: Type.Object({
    threads: Type.Array(
      Type.Object({
        thread_id: threadIdText,
        packages: Type.Integer({ description: 'packages that this agent knows of' }),
        last_event_at: timeText,
        last_package_id: packageId,
      }),
    ),
  }),
  annotations: READS,
  callsPerMinute: 30,
  async run({ limit = MAXIMUM_LISTED }, { session: { agent } }) {
    const threads = [...(await agent.threads(limit))]
    const lines = threads.map(
      ({ thread_id, packages, last_event_at }) =>
        `${thread_id}: ${packages} packages, last event ${last_event_at}`,
    )
    return { structured: { threads }, text: [`${threads.length} threads.`, ...lines].join('\n') }
  },
})
