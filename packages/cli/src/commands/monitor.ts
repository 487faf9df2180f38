import { monitorLog, type MonitorFinding } from '@agent-exchange/sdk'
import { readMonitorState, writeMonitorState, type FolderAgent } from '@agent-exchange/sdk/node'
import { Option, type Command } from 'commander'
import { agentCommandOf, type AgentOptions } from '../agent/agent-options.ts'
import { interruption } from '../agent/interruption.ts'
import { withAgent } from '../agent/open-agent.ts'
import { visible, visibleJson } from '../visible.ts'
import { wholeNumber } from '../whole-number.ts'

const DEFAULT_SECONDS = 60
const LONGEST_SECONDS = 86_400

interface MonitorOptions extends AgentOptions {
  readonly thread?: readonly string[]
  readonly once?: boolean
  readonly every: number
}

export function monitorCommand(): Command {
  return agentCommandOf('monitor', 'Scan the transparency log for events of your agent that you never saw')
    .option('--thread <id...>', 'also watch these threads, from now on')
    .option('--once', 'scan once, and end')
    .addOption(
      new Option('--every <seconds>', 'pause between two scans')
        .argParser(wholeNumber(1, LONGEST_SECONDS, 'seconds'))
        .default(DEFAULT_SECONDS),
    )
    .addHelpText(
      'after',
      `
Examples:
  $ aex monitor --dir ./planner --thread thread_1 --once
  $ aex monitor --dir ./planner --every 300

It finds two leaves for one event (the operator keeps two histories), events that
the exchange does not show, and keys that this agent never made. Exit code 1 if
it found any of them.`,
    )
    .action(monitor)
}

async function monitor(options: MonitorOptions): Promise<void> {
  await withAgent(options, async (agent) => {
    const stopped = options.once ? undefined : interruption()
    let isStopped = false
    void stopped?.then(() => (isStopped = true))
    for (;;) {
      await scanOnce(agent, options)
      if (!stopped || isStopped) return
      await Promise.race([stopped, pause(options.every)])
    }
  })
}

function pause(seconds: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, seconds * 1_000).unref())
}

async function scanOnce(agent: FolderAgent, { thread = [], json }: MonitorOptions): Promise<void> {
  const file = agent.folder.files.monitor
  const stored = await readMonitorState(file)
  const added = thread.filter((id) => !stored.threads.includes(id))
  // A new thread may have leaves in the part that was scanned before.
  const state = added.length > 0 ? { threads: [...stored.threads, ...added], found: [] } : stored
  const result = await monitorLog(agent.context, state)
  if (!result) {
    console.error('The exchange has not published a checkpoint yet.')
    return
  }
  await writeMonitorState(file, result.state)
  const { findings, scanned, size } = result
  if (json) console.log(visibleJson({ findings, scanned, size }))
  else {
    for (const finding of findings) console.log(sentenceOf(finding))
    console.error(`Scanned ${scanned} leaves up to size ${size}: ${findings.length} findings.`)
  }
  if (findings.length > 0) process.exitCode = 1
}

const sentenceOf = ({ sentence, kind }: MonitorFinding) => visible(`✖ ${sentence} (${kind})`)
