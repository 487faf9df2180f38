import { writeFileSync } from 'node:fs'
import {
  compareViews,
  keysIn,
  LogError,
  MAXIMUM_CAPSULE_BYTES,
  readLogView,
  verifySplitView,
  type LogPolicy,
  type LogView,
  type ViewComparison,
} from '@agent-exchange/log'
import { readLiveView } from '@agent-exchange/sdk/internal'
import type { Command } from 'commander'
import { agentCommandOf, type AgentOptions } from '../agent/agent-options.ts'
import { withAgent } from '../agent/open-agent.ts'
import { CommandFailure } from '../failure.ts'
import { readBounded } from '../verify/read-bounded.ts'
import { readLogPolicy } from '../verify/read-log-policy.ts'
import { wrapped } from '../verify/wrap-verdict.ts'
import { visible, visibleJson } from '../visible.ts'
import { requireWritable } from '../writable-file.ts'

const EXAMPLES = `
Examples:
  $ aex log compare mine.json theirs.json
  $ aex log compare mine.json theirs.json --live --dir ./planner
  $ aex log compare aex-agent/log.json their-checkpoint.txt --policy policy.txt
  $ aex log compare mine.json theirs.json --out split-view.json

A file is a capsule, the log.json of an agent's folder, or a checkpoint. Each party
collects its own and sends it over a channel that the operator of the exchange does not
control. With --live the tiles of the log prove what the files alone do not.

Exit codes:
  0  both saw one history of the log
  1  one log key signed two histories; --out writes the proof
  2  a file cannot be read, or is about another log
  3  the files do not prove it either way`

const SENTENCES = {
  same: 'Both files hold the same checkpoint of the log.',
  consistent: 'Both files hold one history: it is proved that the larger log continues the smaller one.',
  unproved:
    'Neither file proves that the larger log continues the smaller one. Repeat with --live and the folder of an agent, so that the tiles of the log are compared.',
  other_log: 'The files are about two different logs.',
} as const

const EXIT_CODES = { same: 0, consistent: 0, fork: 1, other_log: 2, unproved: 3 } as const

interface CompareOptions extends AgentOptions {
  readonly policy?: string
  readonly live?: boolean
  readonly out?: string
}

export function logCompareCommand(): Command {
  return agentCommandOf('compare', 'Compare what two parties saw of a transparency log')
    .argument('<first>', 'a capsule, a log.json, or a checkpoint')
    .argument('<second>', 'that of the other party')
    .option('--policy <file>', 'C2SP tlog-policy with the log key that you trust')
    .option('--live', 'compare with the log that the exchange shows to the agent of --dir')
    .option('--out <file>', 'where to write the proof of two histories')
    .addHelpText('after', EXAMPLES)
    .action(compare)
}

async function compare(first: string, second: string, options: CompareOptions): Promise<void> {
  try {
    if (options.out !== undefined) requireWritable(options.out, 'The split view')
    const policy = await readLogPolicy(options.policy)
    const views = await readViews([first, second], policy)
    await report(await comparison(views, options), { ...options, logPolicy: policy })
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error
    console.error(error.message)
    process.exitCode = 2
  }
}

type Views = readonly [LogView, LogView]

/** A checkpoint names no key: that of the policy or of the other file verifies it. */
async function readViews(files: readonly string[], policy: LogPolicy | undefined): Promise<Views> {
  const contents = await Promise.all(
    files.map(async (file) => {
      const read = await readBounded(file, MAXIMUM_CAPSULE_BYTES)
      if ('fault' in read) throw new CommandFailure(read.fault)
      return { file, bytes: read.bytes }
    }),
  )
  const trusted = [
    ...(policy?.logs.map(({ key }) => key) ?? []),
    ...contents.flatMap(({ file, bytes }) => readable(file, () => keysIn(bytes))),
  ]
  const views: LogView[] = []
  for (const { file, bytes } of contents)
    views.push(
      await readLogView(bytes, trusted).catch((error: unknown) => {
        throw unreadable(file, error)
      }),
    )
  return views as unknown as Views
}

function readable<T>(file: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw unreadable(file, error)
  }
}

function unreadable(file: string, error: unknown): unknown {
  if (!(error instanceof LogError)) return error
  return new CommandFailure(`${file} holds no checkpoint that can be verified. ${error.message}`)
}

/** The files by themselves first. Where they prove nothing, each is compared with the log itself. */
async function comparison([first, second]: Views, options: CompareOptions): Promise<ViewComparison> {
  const foundAt = new Date().toISOString()
  const found = await compareViews(first, second, { foundAt })
  if (found.outcome !== 'unproved' || !options.live) return found
  return withAgent(options, async ({ context }) => {
    const live = await readLiveView(context)
    if (!live) return found
    const { view, readTile } = live
    const each = [
      await compareViews(first, view, { readTile, foundAt }),
      await compareViews(second, view, { readTile, foundAt }),
    ]
    const worst = each.find(({ outcome }) => outcome !== 'same' && outcome !== 'consistent')
    return worst ?? { outcome: 'consistent' }
  })
}

async function report(
  found: ViewComparison,
  { out, json, logPolicy }: CompareOptions & { readonly logPolicy: LogPolicy | undefined },
): Promise<void> {
  process.exitCode = EXIT_CODES[found.outcome]
  const sentence =
    found.outcome === 'fork'
      ? (await verifySplitView(found.view, logPolicy ? { policy: logPolicy } : {})).sentence
      : SENTENCES[found.outcome]
  if (json) console.log(visibleJson({ ...found, sentence }))
  else console.log(wrapped(visible(sentence)))
  if (found.outcome !== 'fork') return
  if (out === undefined) console.error('Write the proof to a file with --out FILE.')
  else {
    writeFileSync(out, `${JSON.stringify(found.view, undefined, 2)}\n`)
    console.error(`Wrote ${out}: anybody can verify it with aex verify.`)
  }
}
