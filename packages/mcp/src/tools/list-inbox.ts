import type { NotificationEnvelope } from '@agent-exchange/protocol'
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
    const inbox = agent.inbox()
    await agent.receiver({ inbox, handle: () => Promise.resolve() }).poll()
    const stored = await inbox.list('pending', limit)
    const events = stored.map(({ body }) => shown(JSON.parse(body) as NotificationEnvelope))
    const { pending } = await inbox.position()
    const lines = events.map(
      (each) => `#${each.sequence} ${each.state} ${each.package_id} in ${each.thread_id}`,
    )
    return {
      structured: { events, waiting: pending },
      text: [`${pending} events wait.`, ...lines].join('\n'),
    }
  },
})

function shown(envelope: NotificationEnvelope) {
  const { event_id, sequence, event_type, occurred_at, package_id, thread_id, state } = envelope
  return { event_id, sequence, event_type, occurred_at, package_id, thread_id, state }
}
