import { Type } from 'typebox'
import { MAXIMUM_LISTED } from '../mcp-limits.ts'
import { defineTool, READS } from '../server/tool.ts'
import { inputOf, listLimit, packageId, packageStateText, threadIdText, timeText } from './common-schemas.ts'

const event = Type.Object({
  event_id: Type.String(),
  sequence: Type.Integer(),
  event_type: Type.String(),
  occurred_at: timeText,
  package_id: packageId,
  thread_id: threadIdText,
  state: packageStateText,
})

export const listInbox = defineTool({
  name: 'list_inbox',
  title: 'List the inbox',
  verb: 'inbox',
  description:
    'Fetches new events of packages and lists those that are not handled yet, oldest first. Read a package with read_package; mark an event as handled with finish_event. Events contain no content.',
  input: inputOf({ limit: listLimit(MAXIMUM_LISTED) }),
  output: Type.Object({
    events: Type.Array(event),
    waiting: Type.Integer({ description: 'number of all events that are not handled' }),
  }),
  annotations: READS,
  callsPerMinute: 30,
  async run({ limit = MAXIMUM_LISTED }, { session: { agent } }) {
    const { events, waiting } = await agent.waitingEvents(limit)
    const lines = events.map(
      (each) => `#${each.sequence} ${each.state} ${each.package_id} in ${each.thread_id}`,
    )
    return {
      structured: { events: [...events], waiting },
      text: [`${waiting} events wait.`, ...lines].join('\n'),
    }
  },
})
