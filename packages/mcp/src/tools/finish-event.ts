import { Type } from 'typebox'
import { defineTool } from '../server/tool.ts'
import { inputOf } from './common-schemas.ts'

export const finishEvent = defineTool({
  name: 'finish_event',
  title: 'Mark an event as handled',
  verb: 'inbox',
  description:
    'Marks an event of the inbox as handled, so that list_inbox no longer shows it. Changes nothing at the exchange.',
  input: inputOf({
    event_id: Type.String({ minLength: 1, maxLength: 256, description: 'id of an event, from list_inbox' }),
  }),
  output: Type.Object({
    finished: Type.Boolean({ description: 'false if no such event was waiting' }),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  callsPerMinute: 120,
  async run({ event_id }, { session: { agent } }) {
    const finished = await agent.finishEvent(event_id)
    return { structured: { finished }, text: finished ? 'Handled.' : 'No such event is waiting.' }
  },
})
