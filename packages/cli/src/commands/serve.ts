import { resolve } from 'node:path'
import type { RunningService } from '@agent-exchange/service'
import type { Config } from '@agent-exchange/service/config'
import { Command } from 'commander'
import { asFailure, configOf } from '../service-failure.ts'

const EXAMPLES = `
Settings are environment variables: \`aex config\` lists them all.

Examples:
  $ aex serve                                    everything on this machine, data in ./data
  $ AEX_DATA_DIR=/srv/exchange aex serve
  $ DATABASE_URL=postgres://… AEX_MASTER_KEY=… aex serve`

export function serveCommand(): Command {
  return new Command('serve')
    .description('Run the exchange until it is told to stop (SIGTERM, Ctrl-C)')
    .addHelpText('after', EXAMPLES)
    .action(serve)
}

async function serve(): Promise<void> {
  const stopping = stopSignal()
  const config = configOf(process.env)
  const service = await start(config)
  say(directions(config, service))
  const reason = await Promise.race([stopping, service.failed])
  if (typeof reason === 'string') say([`${reason}: finishing what was begun, then stopping`])
  try {
    await service[Symbol.asyncDispose]()
  } finally {
    if (typeof reason !== 'string') say([reason.message])
    else say(['Stopped'])
  }
  process.exit(typeof reason === 'string' ? 0 : 1)
}

/** Resolves at the first signal. The second one ends the process at once. */
function stopSignal(): Promise<string> {
  const { promise, resolve: settle } = Promise.withResolvers<string>()
  let isAsked = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (isAsked) process.exit(1)
      isAsked = true
      settle(signal)
    })
  }
  return promise
}

async function start(config: Config): Promise<RunningService> {
  try {
    // Loaded here, so that other commands do not wait for all of it.
    const { runService } = await import('@agent-exchange/service/process')
    return await runService(config, { progress: (line) => say([line]) })
  } catch (error) {
    throw asFailure(error, config)
  }
}

/** For people: standard output is for the log. */
function say(lines: readonly string[]): void {
  for (const line of lines) console.error(line)
}

function directions(config: Config, { urls, operatorTokenFile }: RunningService): string[] {
  const database = config.databaseUrl === undefined ? 'embedded PostgreSQL' : 'PostgreSQL of DATABASE_URL'
  return [
    '',
    'Agent Exchange is running.',
    ...(urls.agent === undefined
      ? ['  agent API       none: this process delivers webhooks (AEX_ROLE=worker)']
      : [`  agent API       ${config.publicUrl}   (reference: ${config.publicUrl}/docs)`]),
    ...(urls.agent === undefined || urls.agent === config.publicUrl
      ? []
      : [`  listening on    ${urls.agent}`]),
    `  operator API    ${urls.operator}   (ready: ${urls.operator}/readyz)`,
    `  operator token  ${operatorTokenFile}`,
    `  data folder     ${config.dataDirectory}`,
    `  database        ${database}`,
    '',
    'Next, in another terminal:',
    ...(config.dataDirectory === resolve('data') ? [] : [`  export AEX_DATA_DIR=${config.dataDirectory}`]),
    ...(config.operatorPort === 8081 ? [] : [`  export AEX_OPERATOR_URL=${urls.operator}`]),
    '  npx aex org create org_acme --name "Acme"',
    '  npx aex agent init --org org_acme --agent agent_planner    (it says how to go on)',
    '  npx aex config',
    '',
  ]
}
