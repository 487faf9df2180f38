import { createInterface } from 'node:readline'
import type { Desk } from '@agent-exchange/desk'
import { approverOf } from '@agent-exchange/sdk/internal/node'
import type { FolderAgent } from '@agent-exchange/sdk/node'
import { Option, type Command } from 'commander'
import { agentCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import { interruption } from '../../agent/interruption.ts'
import { folderStep } from '../../agent/next-step.ts'
import { withAgent } from '../../agent/open-agent.ts'
import { CommandFailure } from '../../failure.ts'
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
    await using running = await started(agent, options.port)
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

async function started(agent: FolderAgent, port: number): Promise<Desk> {
  // Loaded on demand: no other command needs the pages.
  const { DeskPortUnusable, startDesk } = await import('@agent-exchange/desk')
  return startDesk(agent, { port, onFailure: (text) => console.error(text) }).catch((error: unknown) => {
    if (error instanceof DeskPortUnusable)
      throw new CommandFailure(`${error.message} Choose another with --port.`)
    throw error
  })
}

function print(link: string, { json }: DeskOptions): void {
  console.log(json ? visibleJson({ link }) : `Open this link once, within ten minutes:\n  ${link}`)
}
