import { ExchangeError } from '@agent-exchange/sdk'
import { monitorLog, pause, type MonitorFinding, type MonitorResult } from '@agent-exchange/sdk/internal'
import { readMonitorState, writeMonitorState } from '@agent-exchange/sdk/internal/node'
import type { FolderAgent } from '@agent-exchange/sdk/node'
import { Option, type Command } from 'commander'
import { explanationOf } from '../agent/agent-failure.ts'
import { agentCommandOf, type AgentOptions } from '../agent/agent-options.ts'
import { interruption } from '../agent/interruption.ts'
import { withAgent } from '../agent/open-agent.ts'
import { failureExitCode } from '../failure.ts'
import { visible, visibleJson } from '../visible.ts'
import { wholeNumber } from '../whole-number.ts'

const eventNumber = wholeNumber(1, 1_000_000, 'number of a key event')
const DEFAULT_SECONDS = 60
const LONGEST_SECONDS = 86_400
/** Leaves between two lines of progress. */
const PROGRESS_LEAVES = 100_000

interface MonitorOptions extends AgentOptions {
  readonly thread?: readonly string[]
  readonly ownEvent?: readonly number[]
  readonly once?: boolean
  readonly every: number
}

export function monitorCommand(): Command {
  return agentCommandOf('monitor', 'Scan the transparency log for events of your agent that you never saw')
    .option('--thread <id...>', 'watch these threads too, from now on')
    .addOption(
      new Option(
        '--own-event <number...>',
        'key events that you caused by other means, such as a revocation by hand; they are remembered',
      ).argParser((text: string, before: readonly number[] | undefined) => [
        ...(before ?? []),
        eventNumber(text),
      ]),
    )
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
  $ aex monitor --dir ./planner --once
  $ aex monitor --dir ./planner --every 300

Watches the key events of the agent, and every thread that the folder or the event
stream contains. Reports:
  - two leaves for one event: the operator keeps two histories
  - events that the exchange hides, does not log, or shows with other content than
    it logged
  - keys that this agent did not create, and key events that it did not cause

Findings about keys are printed first, before a long scan. A scan that fails because
the exchange does not answer is repeated.

Exit codes: 0 nothing was found, 1 something was found, 4 the scan failed.`,
    )
    .action(monitor)
}

async function monitor(options: MonitorOptions): Promise<void> {
  const stop = new AbortController()
  if (!options.once) void interruption().then(() => stop.abort())
  await withAgent({ ...options, lazily: !options.once }, async (agent) => {
    let outcome = await (options.once ? scan(agent, options) : tryScan(agent, options))
    let hasFound = outcome === 'found'
    while (!options.once && !stop.signal.aborted) {
      await pause(options.every * 1_000, stop.signal)
      if (stop.signal.aborted) break
      outcome = await tryScan(agent, options)
      hasFound ||= outcome === 'found'
    }
    process.exitCode = hasFound ? FOUND : outcome === 'unseen' ? failureExitCode(['monitor']) : 0
  })
}

/** `unseen`: the monitor could not look. */
type Outcome = 'found' | 'nothing' | 'unseen'
const FOUND = 1

/** The log contradicts what the exchange signed, or what this agent has seen of it. */
const CONTRADICTIONS: ReadonlySet<string> = new Set(['log_split_view', 'log_rolled_back', 'log_unverifiable'])

/** What may succeed later is reported, and the next scan tries again. */
async function tryScan(agent: FolderAgent, options: MonitorOptions): Promise<Outcome> {
  try {
    return await scan(agent, options)
  } catch (error) {
    if (!(error instanceof ExchangeError) || !error.retryable) throw error
    console.error(`The scan failed and is repeated in ${options.every} s. ${explanationOf(error, options)}`)
    return 'unseen'
  }
}

async function scan(agent: FolderAgent, options: MonitorOptions): Promise<Outcome> {
  try {
    return await scanOnce(agent, options)
  } catch (error) {
    if (!(error instanceof ExchangeError) || !CONTRADICTIONS.has(error.code)) throw error
    console.error(explanationOf(error, options))
    return 'found'
  }
}

async function scanOnce(
  agent: FolderAgent,
  { thread = [], ownEvent = [], json }: MonitorOptions,
): Promise<Outcome> {
  const file = agent.folder.files.monitor
  const stored = await readMonitorState(file)
  const threads = [...thread, ...(await agent.threads())]
  const result = await monitorLog(agent.context, stored, {
    threads,
    ownEvents: ownEvent,
    onProgress: progressLines(),
    ...(!json && { onFinding: (finding) => console.log(sentenceOf(finding)) }),
  })
  if (!result) {
    console.error('The exchange has not published a checkpoint yet.')
    return 'unseen'
  }
  await writeMonitorState(file, result.state)
  const { findings, scanned, size, lookBack, unreadable, unwatched } = result
  if (json) console.log(visibleJson({ findings, scanned, size, look_back: lookBack, unreadable, unwatched }))
  for (const line of notesOf(result)) console.error(line)
  if (!json) console.error(`Scanned ${scanned} leaves up to size ${size}: ${findings.length} findings.`)
  return findings.length > 0 ? 'found' : 'nothing'
}

/** A long scan says where it is. */
function progressLines(): (index: number, size: number) => void {
  let next = PROGRESS_LEAVES
  return (index, size) => {
    if (index < next || index === size) return
    console.error(`  leaf ${index} of ${size}`)
    next = index + PROGRESS_LEAVES
  }
}

function notesOf({ lookBack, unreadable, unwatched }: MonitorResult): string[] {
  return [
    ...(lookBack === 'done' ? ['Searched the whole log for labels of new packages.'] : []),
    ...(lookBack === 'postponed'
      ? ['Labels of new packages are searched in earlier leaves within an hour.']
      : []),
    ...unreadable.map((threadId) => visible(`Not watched: the exchange shows no ${threadId}.`)),
    ...(unwatched.length > 0
      ? [`Not watched, since there are too many labels: ${unwatched.length} threads.`]
      : []),
  ]
}

const sentenceOf = ({ sentence, kind }: MonitorFinding) => visible(`✖ ${sentence} (${kind})`)
