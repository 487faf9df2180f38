import { setTimeout as wait } from 'node:timers/promises'
import type { NotificationEnvelope } from '@agent-exchange/protocol'
import type { FolderAgent } from '@agent-exchange/sdk/node'
import type { Command } from 'commander'
import { agentCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import { eventLine, receiverOf } from '../../agent/event-receiver.ts'
import { withAgent } from '../../agent/open-agent.ts'
import { snakeCased } from '../../agent/snake-cased.ts'
import { visibleJson } from '../../visible.ts'

const SHOWN = 200
/** Longest wait until stored events are processed and acknowledged. The next run gets the rest. */
const SETTLE_MS = 15_000
const STEP_MS = 20

export function agentReceiveCommand(): Command {
  return agentCommandOf(
    'receive',
    'Print the pending events, in order, each once; mark them as processed',
    'receive',
    'receive --json',
  )
    .addHelpText(
      'after',
      '\nA program with the same folder does not get them again. To see them without processing them: aex agent inbox',
    )
    .action(async (options: AgentOptions) => {
      const events: NotificationEnvelope[] = []
      const status = await withAgent(options, async (agent) => {
        await using receiver = receiverOf(agent, (event) => void events.push(event), options)
        await receiver.poll()
        await receiver.start()
        await settled(agent)
        return receiver.status()
      })
      if (options.json) {
        const { cursor: _, ...position } = status
        return console.log(visibleJson({ events, ...(snakeCased(position) as object) }))
      }
      for (const event of events.slice(-SHOWN)) console.log(eventLine(event))
      if (events.length > SHOWN) console.log(`(the last ${SHOWN} of them; --json shows all)`)
      console.log(`${events.length} received; nothing is missing up to #${status.lastContiguousSequence}`)
      if (status.setAside > 0) console.log(`${status.setAside} were set aside`)
    })
}

/** Waits until all events before the first gap are processed and acknowledged. */
async function settled(agent: FolderAgent): Promise<void> {
  const inbox = agent.inbox()
  for (let waited = 0; waited < SETTLE_MS; waited += STEP_MS) {
    if (!(await inbox.next()) && (await inbox.unacknowledged(1)).length === 0) return
    await wait(STEP_MS)
  }
}
