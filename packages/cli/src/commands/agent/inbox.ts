import type { NotificationEnvelope } from '@agent-exchange/protocol'
import type { Command } from 'commander'
import { agentCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import { eventLine, receiverOf } from '../../agent/event-receiver.ts'
import { nextStep } from '../../agent/next-step.ts'
import { withAgent } from '../../agent/open-agent.ts'
import { snakeCased } from '../../agent/snake-cased.ts'
import { visibleJson } from '../../visible.ts'

/** Events that are printed; the count covers all of them. */
const SHOWN = 200

export function agentInboxCommand(): Command {
  return agentCommandOf(
    'inbox',
    'Show the pending events, in order, without taking them',
    'inbox',
    'inbox --json',
  )
    .addHelpText(
      'after',
      '\nStores new events and leaves them for `aex agent receive`, `aex agent listen` or a program with the same folder.',
    )
    .action(async (options: AgentOptions) => {
      const { events, status } = await withAgent(options, async (agent) => {
        const receiver = receiverOf(agent, () => undefined, options)
        await receiver.poll()
        const waiting = await agent.inbox().list('pending', SHOWN)
        return {
          events: waiting.map(({ body }) => JSON.parse(body) as NotificationEnvelope),
          status: await receiver.status(),
        }
      })
      if (options.json) {
        const { cursor: _, ...position } = status
        return console.log(visibleJson({ events, ...(snakeCased(position) as object) }))
      }
      for (const event of events) console.log(eventLine(event))
      if (status.pending > events.length) console.log(`(the first ${events.length} of them)`)
      console.log(`${status.pending} waiting; nothing is missing up to #${status.lastContiguousSequence}`)
      if (status.setAside > 0) console.log(`${status.setAside} were set aside`)
      if (status.pending > 0) console.log(`  process them  ${nextStep(options, 'receive')}`)
    })
}
