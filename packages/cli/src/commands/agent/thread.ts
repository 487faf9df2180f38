import type { PackageResource } from '@agent-exchange/protocol'
import type { Command } from 'commander'
import { uncheckedSentence, watchLog } from '@agent-exchange/sdk'
import { agentCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import { withAgent } from '../../agent/open-agent.ts'
import { visible, visibleJson } from '../../visible.ts'
import { table } from '../operator/table.ts'

const COLUMNS = ['package_id', 'state', 'created_at', 'from', 'answers']

export function agentThreadCommand(): Command {
  return agentCommandOf(
    'thread',
    'Show the packages of a thread and their states',
    'thread thread_1',
    'thread thread_1 --json',
  )
    .argument('<thread_id>', 'the thread')
    .action(async (threadId: string, options: AgentOptions) => {
      const packages: PackageResource[] = []
      let mode = ''
      await withAgent(options, async (agent) => {
        const { unchecked } = await watchLog(agent.context)
        if (unchecked) console.error(`  warning: ${visible(uncheckedSentence(unchecked))}`)
        for await (const page of agent.thread(threadId)) {
          packages.push(...page.packages)
          mode = page.transport_mode
        }
      })
      if (options.json)
        return console.log(visibleJson({ thread_id: threadId, transport_mode: mode, packages }))
      const rows = packages.map(({ package_id, state, created_at, metadata }) => ({
        package_id,
        state,
        created_at,
        from: metadata.sender_agent_id,
        answers: metadata.responds_to_package_id,
      }))
      console.log(`${visible(threadId)}  ${mode}\n${table(rows, COLUMNS)}`)
    })
}
