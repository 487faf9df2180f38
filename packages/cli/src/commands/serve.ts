import { resolve } from 'node:path'
import type { RunningService } from '@agent-exchange/service'
import type { Config } from '@agent-exchange/service/config'
import { Command } from 'commander'
import { unknownVariables } from '../agent/client-variables.ts'
import { createAnnouncements, type Announcements } from '../announce.ts'
import { requireFreePorts, type Listener } from '../free-port-check.ts'
import { aexCommand, shellQuoted } from '../next-step.ts'
import { asFailure, configOf } from '../service-failure.ts'

const EXAMPLES = `
Settings are environment variables: \`aex config\` lists them all.

Examples:
  $ aex serve                                    everything on this machine, data in ./data
  $ AEX_DATA_DIR=/srv/exchange aex serve
  $ DATABASE_URL=postgres://… AEX_MASTER_KEY=… aex serve`

export function serveCommand(): Command {
  return new Command('serve')
    .description('Run the exchange until it is stopped (SIGTERM, Ctrl-C)')
    .addHelpText('after', EXAMPLES)
    .action(serve)
}

async function serve(): Promise<void> {
  const announcements = createAnnouncements()
  const stopping = stopSignal()
  for (const sentence of await unknownVariables(process.env)) announcements.say(sentence)
  const { config, service } = await start(announcements)
  const shown = directions(config, service)
  announcements.say('Agent Exchange is running.', shown)
  const reason = await Promise.race([stopping, service.failed])
  if (typeof reason === 'string') announcements.say(`${reason}: finishing running work, then stopping`)
  try {
    await service[Symbol.asyncDispose]()
  } finally {
    announcements.say(typeof reason === 'string' ? 'Stopped' : reason.message)
  }
  process.exit(typeof reason === 'string' ? 0 : 1)
}

/** Signals within this time of the first are ignored: process managers signal a process and its group. */
const SAME_SIGNAL_MS = 2_000

/**
 * Resolves at the first signal. Process managers send SIGTERM several times (npm and systemd at the same moment), so
 * further ones are ignored. A later second Ctrl-C ends the process immediately.
 */
function stopSignal(): Promise<string> {
  const { promise, resolve: settle } = Promise.withResolvers<string>()
  let isImpatient = false
  // SIGHUP: the terminal was closed. An orderly stop also stops the embedded database.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (signal === 'SIGINT' && isImpatient) process.exit(1)
      settle(signal)
      setTimeout(() => (isImpatient = true), SAME_SIGNAL_MS).unref()
    })
  }
  return promise
}

async function start(
  announcements: Announcements,
): Promise<{ readonly config: Config; readonly service: RunningService }> {
  let config: Config | undefined
  try {
    config = configOf(process.env)
    await requireFreePorts(listenersOf(config))
    // Loaded on demand: other commands start faster.
    const { runService } = await import('@agent-exchange/service/process')
    announcements.progress(
      config.databaseUrl === undefined ? 'Starting PostgreSQL' : 'Connecting to PostgreSQL',
    )
    return { config, service: await runService(config, { progress: announcements.progress }) }
  } catch (error) {
    announcements.say(asFailure(error, config).message)
    return process.exit(1)
  }
}

function listenersOf({ role, host, port, operatorHost, operatorPort }: Config): Listener[] {
  const agent = { host, port, variables: 'AEX_HOST or AEX_PORT' }
  const operator = {
    host: operatorHost,
    port: operatorPort,
    variables: 'AEX_OPERATOR_HOST or AEX_OPERATOR_PORT',
  }
  return role === 'worker' ? [operator] : [agent, operator]
}

/** Addresses and next steps, as text and as facts. */
function directions(config: Config, { urls, operatorTokenFile }: RunningService) {
  const database = config.databaseUrl === undefined ? 'embedded PostgreSQL' : 'PostgreSQL of DATABASE_URL'
  const aex = aexCommand()
  const consoleUrl = config.operatorPublicUrl ?? urls.operator
  const lines = [
    '',
    'Agent Exchange is running.',
    ...(urls.agent === undefined
      ? ['  agent API       none: this process delivers webhooks (AEX_ROLE=worker)']
      : [`  agent API       ${config.publicUrl}   (reference: ${config.publicUrl}/docs)`]),
    ...(urls.agent === undefined || urls.agent === config.publicUrl
      ? []
      : [`  listening on    ${urls.agent}`]),
    `  operator API    ${urls.operator}   (ready: ${urls.operator}/readyz)`,
    `  console         ${consoleUrl}/   (sign in with the operator token)`,
    `  operator token  ${operatorTokenFile}`,
    `  data folder     ${config.dataDirectory}`,
    `  database        ${database}`,
    '',
    'Next, in another terminal:',
    ...settingsFor(config, urls.operator).map((setting) => `  export ${setting}`),
    `  ${aex} org create org_acme --name "Acme"`,
    `  ${aex} agent init --org org_acme --agent agent_planner`,
    `  ${aex} config`,
    '',
  ]
  const facts = {
    agent_api: urls.agent === undefined ? undefined : config.publicUrl,
    operator_api: urls.operator,
    console: `${consoleUrl}/`,
    operator_token_file: operatorTokenFile,
    data_folder: config.dataDirectory,
    database,
  }
  return { lines, facts }
}

/** Settings that the next commands need, if they differ from the defaults. */
function settingsFor({ dataDirectory, publicUrl }: Config, operatorUrl: string): string[] {
  const settings: [name: string, value: string, usual: string][] = [
    ['AEX_DATA_DIR', dataDirectory, resolve('data')],
    ['AEX_OPERATOR_URL', operatorUrl, 'http://127.0.0.1:8081'],
    ['AEX_URL', publicUrl, 'http://127.0.0.1:8080'],
  ]
  return settings
    .filter(([, value, usual]) => value !== usual)
    .map(([name, value]) => `${name}=${shellQuoted(value)}`)
}
