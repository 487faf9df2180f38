import { createInterface } from 'node:readline'
import { approverOf } from '@agent-exchange/sdk/internal/node'
import { Option, type Command } from 'commander'
import { agentCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import { interruption } from '../../agent/interruption.ts'
import { folderStep } from '../../agent/next-step.ts'
import { withAgent } from '../../agent/open-agent.ts'
import { startDesk } from '../../desk/desk-server.ts'
import { visibleJson } from '../../visible.ts'
import { wholeNumber } from '../../whole-number.ts'

interface DeskOptions extends AgentOptions {
  readonly port: number
}

export function agentDeskCommand(): Command {
  return agentCommandOf(
    'desk',
    'Serve a page on this computer for the person who reads, approves and answers',
    'desk',
    'desk --port 4100',
  )
    .addOption(
      new Option('--port <port>', 'port on loopback; 0 chooses a free one')
        .argParser(wholeNumber(0, 65_535, 'a port'))
        .default(0),
    )
    .action(desk)
}

async function desk(options: DeskOptions): Promise<void> {
  await withAgent({ ...options, lazily: true }, async (agent) => {
    await using running = await startDesk(agent, {
      port: options.port,
      onFailure: (text) => console.error(text),
    })
    const stopped = interruption()
    print(running.newLink(), options)
    if (!(await approverOf(options.dir)))
      console.error(
        `Nothing can be approved yet. Make the approver: ${folderStep(options, 'approver', 'init')}`,
      )
    console.error('Press Enter for a new link. Ctrl-C ends the desk.')
    const lines = createInterface({ input: process.stdin })
    lines.on('line', () => print(running.newLink(), options))
    await stopped
    lines.close()
  })
}

function print(link: string, { json }: DeskOptions): void {
  console.log(json ? visibleJson({ link }) : `Open this link once, within ten minutes:\n  ${link}`)
}
