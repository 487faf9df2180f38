import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { CAPSULES_COMMAND, OBJECTS_COMMAND } from './commands/judge-a-program.ts'
import { LOG_COMMAND } from './commands/judge-a-log.ts'
import { SERVICE_COMMAND } from './commands/judge-a-service.ts'
import { AGENT_COMMAND } from './commands/judge-an-agent.ts'
import type { JudgeCommand, Output } from './commands/judge-command.ts'
import { listOfRequirements } from './commands/list.ts'
import { newToken } from './commands/print-token.ts'
import { OPTIONS, requireTaken } from './commands/options.ts'
import { badgeOf } from './report/badge.ts'
import { htmlOf } from './report/html.ts'
import { junitOf } from './report/junit.ts'
import { exitCodeOf } from './report/report.ts'
import { tableOf } from './report/table.ts'
import { REQUIREMENTS } from './requirements/index.ts'
import type { Requirement } from './requirements/requirement.ts'

const HELP = `Judges an implementation of the Agent Exchange protocol from outside, by requirement ids.

  aex-conformance service BASE_URL --config FILE   a running service, with three organizations
  aex-conformance agent -- COMMAND [WORD...]       an agent, through a driver that reads one command a line
  aex-conformance objects -- COMMAND [WORD...]     a validator, which reads one object a line
  aex-conformance capsules -- COMMAND [WORD...]    a verifier of capsules, which reads one capsule a line
  aex-conformance log PREFIX_URL --policy FILE     a transparency log (C2SP tlog-tiles)
  aex-conformance token BASE_URL ORGANIZATION_ID --config FILE   an access token, for the curl commands of a report
  aex-conformance list                             every requirement, and of whom it is judged

  --only ID        judge these requirements only, such as PKG-09; may be repeated
  --json FILE      write the report as JSON      --junit FILE   as JUnit XML      --html FILE   as a page
  --badge FILE     write an SVG image that names version, date, profile and result

Of a service:
  --state FILE     keep results there, and continue from them in the next run
  --seed TEXT      decides all ids of a run; a new one by default
  --concurrency N  connections at a time, 8 by default      --pace N       requests a second, 50 by default
  --timeout MS     of a request, 15000 by default; the limits of checks follow from it
Of an agent:
  --listen HOST:PORT  where the scripted exchange listens; a free port of 127.0.0.1 by default
  --seed TEXT      decides all ids of a run; a new one by default
Of objects and capsules:
  --vectors FOLDER instead of the committed vectors
Of a log:
  --policy FILE    the keys of log and witnesses that you trust (C2SP tlog-policy)
  --checkpoint FILE  keep the checkpoint there; the log has to continue it in the next run
  --token-file FILE  an access token, for a log that is not public      --timeout MS   --seed TEXT

Exit codes: 0 nothing failed, 1 a requirement failed, 2 something could not be judged, or nothing was.`

/** A further judge is a file of `commands` and a line here and in the help. */
const JUDGES: Readonly<Record<string, JudgeCommand>> = {
  service: SERVICE_COMMAND,
  agent: AGENT_COMMAND,
  objects: OBJECTS_COMMAND,
  capsules: CAPSULES_COMMAND,
  log: LOG_COMMAND,
}

/** Returns the exit code. */
export async function runCommand(given: readonly string[], output: Output): Promise<number> {
  try {
    const { values, positionals } = parseArgs({ args: [...given], options: OPTIONS, allowPositionals: true })
    const [subject = '', ...words] = positionals
    if (values.help) return say(output, HELP)
    if (values.list || subject === 'list') return say(output, listOfRequirements(REQUIREMENTS))
    if (subject === 'token') return say(output, await newToken(words, values))
    const command = JUDGES[subject]
    if (!command) throw new Error(HELP)
    requireTaken(subject, command.options, values)
    const report = await command.judge({
      words,
      values,
      requirements: wantedRequirements(values.only),
      output,
    })
    if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`)
    if (values.junit !== undefined) writeFileSync(values.junit, junitOf(report))
    if (values.html !== undefined) writeFileSync(values.html, htmlOf(report))
    if (values.badge !== undefined) writeFileSync(values.badge, badgeOf(report))
    output.log(tableOf(report, output))
    return exitCodeOf(report)
  } catch (error) {
    output.error(error instanceof Error ? error.message : String(error))
    return 2
  }
}

function wantedRequirements(only: readonly string[] | undefined): readonly Requirement[] {
  const unknown = only?.find((id) => REQUIREMENTS.every((requirement) => requirement.id !== id))
  if (unknown !== undefined)
    throw new Error(`there is no requirement ${unknown}: aex-conformance list names them`)
  return REQUIREMENTS.filter(({ id }) => only === undefined || only.includes(id))
}

function say({ log }: Output, text: string): number {
  log(text)
  return 0
}
