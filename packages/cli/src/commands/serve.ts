import type { RunningService } from '@agent-exchange/service'
import type { Config } from '@agent-exchange/service/config'
import { Command } from 'commander'
import { unknownVariables } from '../agent/client-variables.ts'
import { createAnnouncements, type Announcements } from '../announce.ts'
import { requireFreePorts, type Listener } from '../free-port-check.ts'
import { asFailure, configOf } from '../service-failure.ts'
import { serveDirections } from './serve-directions.ts'

const EXAMPLES = `
Settings are environment variables: \`aex config\` lists them all.

Examples:
  $ aex serve                                    everything on this machine, data in ./data
  $ AEX_DATA_DIR=/srv/exchange aex serve
  $ DATABASE_URL=postgres://… AEX_MASTER_KEY=… aex serve`

export function serveCommand(): Command {
  return new Command('serve')
    .description('Run the exchange until it is stopped (SIGTERM, Ctrl-C)')
    .option('--json', 'print messages and logs as JSON lines on a terminal too')
    .addHelpText('after', EXAMPLES)
    .action(serve)
}

async function serve({ json = false }: { json?: boolean }): Promise<void> {
  const announcements = createAnnouncements({ json })
  const stopping = stopSignal()
  for (const sentence of await unknownVariables(process.env)) announcements.say(sentence)
  const { config, service } = await start(announcements, json)
  announcements.say('Agent Exchange is running.', serveDirections(config, service))
  const reason = await Promise.race([stopping, service.failed])
  if (typeof reason === 'string') announcements.say(`${reason}: finishing running work, then stopping`)
  try {
    await service[Symbol.asyncDispose]()
  } finally {
    if (typeof reason === 'string') announcements.say('Stopped')
    else announcements.fail(reason.message)
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
  json: boolean,
): Promise<{ readonly config: Config; readonly service: RunningService }> {
  let config: Config | undefined
  try {
    config = { ...configOf(process.env), ...(json && { logAsJson: true }) }
    await requireFreePorts(listenersOf(config))
    // Loaded on demand: other commands start faster.
    const { runService } = await import('@agent-exchange/service/process')
    announcements.progress(
      config.databaseUrl === undefined ? 'Starting PostgreSQL' : 'Connecting to PostgreSQL',
    )
    return { config, service: await runService(config, { progress: announcements.progress }) }
  } catch (error) {
    announcements.fail(asFailure(error, config).message)
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
