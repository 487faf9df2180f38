/** `npm run demo`: two companies share, challenge and align a demand change through an exchange of their own. */

import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { createAnnouncements } from '../packages/cli/src/announce.ts'
import { CommandFailure } from '../packages/cli/src/failure.ts'
import { visibleJson } from '../packages/cli/src/visible.ts'
import { requireWritable } from '../packages/cli/src/writable-file.ts'
import { demoDirections } from './demo-directions.ts'
import { demoDocument } from './demo-document.ts'
import { requirePython } from './python-program.ts'
import type { Demo } from './run-demo.ts'
import { createTimeline, type Timeline } from './timeline.ts'

const HELP = `Watch two companies share, challenge and align a demand change.

Two companies, an exchange between them, real keys, real webhooks over TLS. It takes a few seconds and leaves nothing
behind but the report, where one is asked for.

  npm run demo
  npm run demo -- --report demo.html      writes an HTML report with a sequence picture
  npm run demo -- --mcp                   two scripted models do it through MCP; a person approves at the desk
  npm run demo -- --gateway               the supplier is a Python program with a gateway; needs python3
  npm run demo -- --transport ds_x        through two simulated data-space connectors (default: native)
  npm run demo -- --keep                  leaves it running until Ctrl-C, with links to the story at both desks
  npm run demo -- --json                  prints one JSON document instead of the story

With --mcp, each model starts \`aex agent mcp\` and calls its tools over standard input and output. No language model and no
browser is needed: the calls are scripted, and the person approves by the HTML forms of the desk.`

/** Longer lines are hard to read, also on a wide terminal. */
const WIDEST = 80
/** 128 and the number of SIGINT, as a shell reports it. */
const INTERRUPTED = 130

try {
  process.exit(await main())
} catch (error) {
  console.error(error instanceof CommandFailure ? error.message : error)
  process.exit(1)
}

/** Returns the exit code. */
async function main(): Promise<number> {
  const options = readOptions()
  if (options.help) {
    console.log(HELP)
    return 0
  }
  const { transport, mcp, gateway, report, keep, json } = options
  if (gateway) requirePython()
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
  // Loaded after the command line was checked: it brings the service with it.
  const { runDemo } = await import('./run-demo.ts')
  const running = runDemo({
    transport,
    ...(mcp && { mcp: {} }),
    gateway,
    timeline: endingAt(interrupted, timeline),
    now: () => new Date(),
    onWait: (what) => (what === undefined ? announcements?.clear() : announcements?.progress(what)),
  })
  const first = await Promise.race([running, interrupted])
  if (first === undefined) {
    console.error('\nStopping; everything is removed.')
    await (await running.catch(() => undefined))?.[Symbol.asyncDispose]()
    return INTERRUPTED
  }
  await using demo = first
  if (report !== undefined) writeFileSync(report, demo.page)
  await using desks = keep ? await (await import('./story-desks.ts')).openStoryDesks(demo) : undefined
  const links = desks && { links: desks.links }
  if (json)
    console.log(visibleJson(demoDocument(demo, { ...links, ...(report && { report: resolve(report) }) })))
  else {
    summarize(demo)
    if (report !== undefined) console.log(`\nReport: ${resolve(report)}`)
    console.log(
      links
        ? demoDirections(demo, { ...links, token: await demo.agents.manufacturer.token() })
        : suggestions(report, mcp),
    )
  }
  if (keep) {
    await interrupted
    console.error('\nStopping; everything is removed.')
  }
  return demo.outcome.evidence.contradictions.length > 0 ? 1 : 0
}

function readOptions() {
  const { values } = parsed()
  const { transport, mcp, gateway } = values
  if (transport !== 'native' && transport !== 'ds_x')
    throw new CommandFailure('--transport is native or ds_x.')
  if (mcp && transport === 'ds_x')
    throw new CommandFailure('--mcp uses the native transport. Leave out --transport ds_x.')
  if (gateway && (mcp || transport === 'ds_x'))
    throw new CommandFailure('--gateway cannot be combined with --mcp or --transport ds_x.')
  return { ...values, transport } as const
}

function parsed() {
  try {
    return parseArgs({
      options: {
        transport: { type: 'string', default: 'native' },
        mcp: { type: 'boolean', default: false },
        gateway: { type: 'boolean', default: false },
        report: { type: 'string' },
        keep: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
  } catch (error) {
    throw new CommandFailure(`${error instanceof Error ? error.message : String(error)} Try --help.`)
  }
}

/** Ends the demo at its next step after an interruption. Later events are not shown. */
function endingAt(interrupted: Promise<undefined>, timeline: Timeline): Timeline {
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
      process.once(signal, () => process.exit(INTERRUPTED))
    })
  }
  return promise
}

function summarize({ outcome }: Demo): void {
  console.log('')
  for (const { count, what } of outcome.counts) console.log(`${String(count).padStart(5)} ${what}`)
}

/** What to do next, most interesting first. */
function suggestions(report: string | undefined, mcp: boolean): string {
  const demo = 'npm run demo --'
  const lines = [
    [`${demo}${mcp ? ' --mcp' : ''} --keep`, 'the same, left running to look around'],
    mcp
      ? ['npx aex agent mcp --help', 'your own model; see docs/mcp.md']
      : [`${demo} --mcp`, 'the same by two scripted MCP clients'],
    ...(report === undefined ? [[`${demo} --report demo.html`, 'the story as a page']] : []),
    [`${demo} --gateway`, 'the supplier by a Python program with a gateway'],
    [`${demo} --transport ds_x`, 'through two simulated connectors'],
    ['npx aex serve', 'your own exchange; see docs/quickstart.md'],
    ['npx aex agent --help', 'your own agent, from keys to evidence'],
  ]
  return ['', 'Try next:', ...lines.map(([command = '', why]) => `  ${command.padEnd(36)}  ${why}`)].join(
    '\n',
  )
}
