import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Command, Option } from 'commander'
import { demoDirections } from '../demo/demo-directions.ts'
import { demoDocument } from '../demo/demo-document.ts'
import type { Demo } from '../demo/run-demo.ts'
import { createTimeline, type Timeline } from '../demo/timeline.ts'
import { CommandFailure } from '../failure.ts'
import { createAnnouncements } from '../announce.ts'
import { aexCommand } from '../next-step.ts'
import { isInstalled, SIMULATOR } from '../optional-packages.ts'
import { visibleJson } from '../visible.ts'
import { requireWritable } from '../writable-file.ts'

const EXAMPLES = `
Two companies, an exchange between them, real keys, real webhooks over TLS. It takes a few seconds and leaves nothing
behind but the report, where one is asked for.

Examples:
  $ aex demo
  $ aex demo --report demo.html
  $ aex demo --mcp                     two scripted models do it through MCP; a person approves at the desk
  $ aex demo --transport ds_x          through two simulated data-space connectors; in a checkout only
  $ aex demo --keep                    leaves it running, and says how to go on with curl

With --mcp, each model starts \`aex agent mcp\` and calls its tools over standard input and output. No language model and no
browser is needed: the calls are scripted, and the person approves by the HTML forms of the desk.`

const NO_SIMULATOR =
  'The ds_x demo needs the connector simulator, which is not published. Run it in a checkout of the repository: npm run demo -- --transport ds_x'

const MCP_IS_NATIVE = '--mcp uses the native transport. Leave out --transport ds_x.'

/** Longer lines are hard to read, also on a wide terminal. */
const WIDEST = 80

interface DemoCommandOptions {
  readonly transport: 'native' | 'ds_x'
  readonly mcp?: boolean
  readonly report?: string
  readonly keep?: boolean
  readonly json?: boolean
}

export function demoCommand(): Command {
  return new Command('demo')
    .description('Watch two companies share, challenge and align a demand change')
    .addOption(
      new Option('--transport <mode>', 'how the sealed bytes travel')
        .choices(['native', 'ds_x'])
        .default('native'),
    )
    .option('--mcp', 'let two scripted models do it through MCP, and a person approve at the desk')
    .option('--report <file>', 'write an HTML report with a sequence picture')
    .option('--keep', 'leave the exchange up until Ctrl-C')
    .option('--json', 'print one JSON document instead of the story')
    .addHelpText('after', EXAMPLES)
    .action(demo)
}

async function demo({
  transport,
  mcp,
  report,
  keep = false,
  json = false,
}: DemoCommandOptions): Promise<void> {
  if (mcp && transport === 'ds_x') throw new CommandFailure(MCP_IS_NATIVE)
  if (transport === 'ds_x' && !isInstalled(SIMULATOR)) throw new CommandFailure(NO_SIMULATOR)
  if (report !== undefined) requireWritable(report, 'The report')
  const interrupted = interruption()
  const timeline = createTimeline({
    now: () => performance.now(),
    print: (line) => {
      if (!json) console.log(line)
    },
    colour: process.stdout.isTTY && process.env['NO_COLOR'] === undefined,
    ...(process.stdout.isTTY && { columns: Math.min(process.stdout.columns, WIDEST) }),
  })
  const announcements = process.stderr.isTTY ? createAnnouncements() : undefined
  const onWait = (what: string | undefined) =>
    what === undefined ? announcements?.clear() : announcements?.progress(what)
  const { runDemo } = await import('../demo/run-demo.ts')
  const running = runDemo({
    transport,
    ...(mcp && { mcp: {} }),
    timeline: until(interrupted, timeline),
    now: () => new Date(),
    onWait,
  })
  const first = await Promise.race([running, interrupted])
  if (first === undefined) {
    console.error('\nStopping; everything is removed.')
    await (await running.catch(() => undefined))?.[Symbol.asyncDispose]()
    process.exit(130)
  }
  try {
    await using ended = first
    if (report !== undefined) writeFileSync(report, ended.page)
    if (json)
      console.log(visibleJson(demoDocument(ended, { keep, ...(report && { report: resolve(report) }) })))
    else {
      summarize(ended)
      if (report !== undefined) console.log(`\nReport: ${resolve(report)}`)
      console.log(
        keep ? demoDirections(ended, await ended.agents.manufacturer.token()) : suggestions(report, mcp),
      )
    }
    if (keep) {
      await interrupted
      console.error('\nStopping; everything is removed.')
    }
  } finally {
    process.removeAllListeners('SIGINT')
  }
  const failed = first.outcome.evidence.contradictions.length > 0
  // Idle connections must not keep the process alive.
  process.exit(failed ? 1 : 0)
}

/** Ends the demo at its next step after an interruption. Later events are not shown. */
function until(interrupted: Promise<undefined>, timeline: Timeline): Timeline {
  let isOver = false
  void interrupted.then(() => {
    isOver = true
  })
  return {
    ...timeline,
    add(moment) {
      if (!isOver) timeline.add(moment)
      else if (moment.kind !== 'event') throw new CommandFailure('Interrupted.')
    },
  }
}

/** Resolves at Ctrl-C or SIGTERM; a second one ends the process at once. */
function interruption(): Promise<undefined> {
  const { promise, resolve: settle } = Promise.withResolvers<undefined>()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      settle(undefined)
      process.once(signal, () => process.exit(130))
    })
  }
  return promise
}

function summarize({ outcome }: Demo): void {
  console.log('')
  for (const { count, what } of outcome.counts) console.log(`${String(count).padStart(5)} ${what}`)
}

/** What to do next, most interesting first. */
function suggestions(report: string | undefined, mcp = false): string {
  const aex = aexCommand()
  const lines = [
    [`${aex} demo${mcp ? ' --mcp' : ''} --keep`, 'the same, left running to look around'],
    ...(mcp
      ? [[`${aex} agent mcp --help`, 'your own model; see docs/mcp.md']]
      : [[`${aex} demo --mcp`, 'the same by two scripted MCP clients']]),
    ...(report === undefined ? [[`${aex} demo --report demo.html`, 'the story as a page']] : []),
    ...(isInstalled(SIMULATOR) ? [[`${aex} demo --transport ds_x`, 'through two simulated connectors']] : []),
    [`${aex} serve`, 'your own exchange; see docs/quickstart.md'],
    [`${aex} agent --help`, 'your own agent, from keys to evidence'],
  ]
  return ['', 'Try next:', ...lines.map(([command = '', why]) => `  ${command.padEnd(32)}  ${why}`)].join(
    '\n',
  )
}
