import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer as createPlainServer } from 'node:http'
import { createServer } from 'node:https'
import type { NotificationEnvelope } from '@agent-exchange/protocol'
import type { Receiver, ReceiverReport } from '@agent-exchange/sdk'
import { toNodeListener, type FolderAgent } from '@agent-exchange/sdk/node'
import { InvalidArgumentError, Option, type Command } from 'commander'
import { agentCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import { withAgent } from '../../agent/open-agent.ts'
import { CommandFailure } from '../../failure.ts'
import { visible } from '../../visible.ts'

const SHOWN = 200

export function agentInboxCommand(): Command {
  return agentCommandOf(
    'inbox',
    'Read the stream to its end, store what is new, and show it in order',
    'inbox',
    'inbox --json',
  ).action(async (options: AgentOptions) => {
    const events: NotificationEnvelope[] = []
    const position = await withAgent(options, async (agent) => {
      await using receiver = receiverOf(agent, (event) => void events.push(event))
      await receiver.poll()
      await receiver.start()
      await drained(receiver)
      return receiver.status()
    })
    if (options.json) return console.log(JSON.stringify({ events, ...position }, undefined, 2))
    for (const event of events.slice(-SHOWN)) console.log(line(event))
    const { lastContiguousSequence, setAside } = position
    console.log(`${events.length} new; nothing is missing up to #${lastContiguousSequence}`)
    if (setAside > 0) console.log(`${setAside} were set aside`)
  })
}

interface ListenOptions extends AgentOptions {
  readonly port: number
  readonly host: string
  readonly publicUrl?: string
  readonly cert?: string
  readonly key?: string
}

export function agentListenCommand(): Command {
  return agentCommandOf(
    'listen',
    'Print events as they come: by signed webhooks where the agent has an address, else by polling',
    'listen',
    'listen --public-url https://agent.example/events --port 8443 --cert cert.pem --key key.pem',
    'listen --public-url https://agent.example/events --port 9000      (behind a proxy that ends TLS)',
  )
    .option('--public-url <url>', 'address under which the exchange reaches this command')
    .addOption(new Option('--port <port>', 'port to listen on').argParser(readPort).default(8443))
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--cert <file>', 'TLS certificate, PEM')
    .option('--key <file>', 'its private key, PEM')
    .action(listen)
}

async function listen(options: ListenOptions): Promise<void> {
  const stopped = new Promise<void>((resolve) => {
    process.once('SIGINT', () => resolve())
    process.once('SIGTERM', () => resolve())
  })
  await withAgent(options, async (agent) => {
    const show = options.json
      ? (event: NotificationEnvelope) => console.log(JSON.stringify(event))
      : (event: NotificationEnvelope) => console.log(line(event))
    await using receiver = receiverOf(agent, show)
    await receiver.start()
    await using server = options.publicUrl === undefined ? undefined : await serve(receiver, options)
    if (server && options.publicUrl !== undefined) {
      const { webhook_endpoint_id: id } = await receiver.ensureEndpoint(options.publicUrl)
      console.error(`Listening for webhooks at ${options.publicUrl} (${id}). Ctrl-C ends it.`)
    } else console.error('Polling for events. Ctrl-C ends it.')
    await stopped
  })
}

async function serve(receiver: Receiver, { host, port, cert, key }: ListenOptions): Promise<AsyncDisposable> {
  if ((cert === undefined) !== (key === undefined))
    throw new CommandFailure('Give both --cert and --key, or neither behind a proxy that ends TLS.')
  const listener = toNodeListener(receiver.handler)
  const server =
    cert === undefined || key === undefined
      ? createPlainServer(listener)
      : createServer({ cert: pem(cert), key: pem(key) }, listener)
  server.listen(port, host)
  await once(server, 'listening').catch(() => {
    throw new CommandFailure(`Port ${port} of ${host} cannot be used. Choose another with --port and --host.`)
  })
  return {
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function pem(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    throw new CommandFailure(`${file} cannot be read.`)
  }
}

function receiverOf(agent: FolderAgent, handle: (event: NotificationEnvelope) => void): Receiver {
  return agent.receiver({ inbox: agent.inbox(), handle: async (event) => handle(event), onReport: report })
}

/** Waits until everything that is stored was shown. */
async function drained(receiver: Receiver): Promise<void> {
  while ((await receiver.status()).pending > 0) await new Promise((resolve) => setTimeout(resolve, 20))
}

function line({
  sequence,
  occurred_at,
  event_type,
  package_id,
  thread_id,
  state,
}: NotificationEnvelope): string {
  return visible(`#${sequence}  ${occurred_at}  ${event_type}  ${package_id}  ${state}  ${thread_id}`)
}

/** What is not an event goes to standard error. */
function report(what: ReceiverReport): void {
  if (what.kind === 'webhook_rejected')
    console.error(`refused a webhook (${what.status}): ${what.error.message}`)
  else if (what.kind === 'trouble')
    console.error(
      `trouble with ${what.during}: ${what.error instanceof Error ? what.error.message : 'unknown'}`,
    )
  else if (what.kind === 'gap')
    console.error(`#${what.gap.firstSequence} to #${what.gap.lastSequence} are gone: ${what.gap.reason}`)
  else console.error(what.kind.replaceAll('_', ' '))
}

function readPort(text: string): number {
  const port = /^\d+$/u.test(text) ? Number(text) : -1
  if (port >= 0 && port <= 65_535) return port
  throw new InvalidArgumentError('Give a port from 0 to 65535.')
}
