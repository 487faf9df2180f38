import type { NotificationEnvelope } from '@agent-exchange/protocol'
import type { Receiver } from '@agent-exchange/sdk'
import { Option, type Command } from 'commander'
import { openAgentFolder } from '@agent-exchange/sdk/internal/node'
import { explained } from '../../agent/agent-failure.ts'
import { agentCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import { eventLine, receiverOf, refusalLines } from '../../agent/event-receiver.ts'
import { forwardTo, isLoopback, readForwardUrl } from '../../agent/forward-event.ts'
import { interruption } from '../../agent/interruption.ts'
import { folderStep } from '../../agent/next-step.ts'
import { withAgent } from '../../agent/open-agent.ts'
import { createTestReceiver } from '../../agent/test-webhooks.ts'
import { arrivalWatch } from '../../agent/webhook-arrival.ts'
import { createWebhookProbe, type WebhookProbe } from '../../agent/webhook-probe.ts'
import { startWebhookServer } from '../../agent/webhook-server.ts'
import { CommandFailure } from '../../failure.ts'
import { visible } from '../../visible.ts'
import { wholeNumber } from '../../whole-number.ts'

const DEFAULT_PORT = 8443
const DEFAULT_POLL_SECONDS = 5
/** Longest delay of an event whose webhook does not arrive. */
const SAFETY_POLL_SECONDS = 30
const LONGEST_POLL_SECONDS = 3_600

interface ListenOptions extends AgentOptions {
  readonly port: number
  readonly host: string
  readonly every?: number
  readonly publicUrl?: string
  readonly cert?: string
  readonly key?: string
  readonly registerAgain?: boolean
  readonly forwardTo?: string
  readonly test?: boolean
}

export function agentListenCommand(): Command {
  return agentCommandOf(
    'listen',
    'Receive and print events: by signed webhooks if the agent has an address, else by polling',
    'listen',
    'listen --public-url https://agent.example/events --port 8443 --cert cert.pem --key key.pem',
    'listen --public-url https://agent.example/events --port 9000      (behind a TLS-terminating proxy)',
    'listen --forward-to http://localhost:3000/hook                    (verified, then passed on)',
    'listen --test --forward-to http://localhost:3000/hook             (test events: aex agent test-event)',
    'listen --json | while read -r event; do …; done                   (one event a line)',
  )
    .option('--public-url <url>', 'address under which the exchange reaches this command')
    .addOption(
      new Option('--port <port>', 'port to listen on')
        .argParser(wholeNumber(0, 65_535, 'a port'))
        .default(DEFAULT_PORT),
    )
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--cert <file>', 'TLS certificate, PEM')
    .option('--key <file>', 'its private key, PEM')
    .option('--register-again', 'register the address again, after the operator disabled or deleted it')
    .addOption(
      new Option(
        '--forward-to <url>',
        'pass each verified event on as a JSON POST, until it is answered with 2xx',
      ).argParser(readForwardUrl),
    )
    .option('--test', 'accept test events of `aex agent test-event` instead of those of the exchange')
    .addOption(
      new Option(
        '--every <seconds>',
        `polling interval (default: ${DEFAULT_POLL_SECONDS}; with webhooks ${SAFETY_POLL_SECONDS})`,
      ).argParser(wholeNumber(1, LONGEST_POLL_SECONDS, 'seconds')),
    )
    .action(listen)
}

async function listen(options: ListenOptions): Promise<void> {
  const { publicUrl, json } = options
  if (options.test) return listenToTests(options)
  const forward = options.forwardTo === undefined ? undefined : forwardTo(options.forwardTo)
  const seconds = options.every ?? (publicUrl === undefined ? DEFAULT_POLL_SECONDS : SAFETY_POLL_SECONDS)
  // An earlier run may have registered an address, so set both intervals.
  const polling = { pollMs: seconds * 1_000, safetyPollMs: seconds * 1_000 }
  const watch = arrivalWatch()
  const startedAt = Date.now()
  await withAgent(options, async (agent) => {
    await using open = new AsyncDisposableStack()
    const show = async (event: NotificationEnvelope, signal: AbortSignal) => {
      const status = await forward?.(event, signal)
      print(event, json)
      if (status !== undefined) console.error(`  ${options.forwardTo} answered with ${status}`)
      // Earlier events say nothing about webhooks.
      if (publicUrl !== undefined && Date.parse(event.occurred_at) > startedAt) void watch(receiver)
    }
    const receiver: Receiver = open.use(receiverOf(agent, show, options, polling))
    let where = 'Polling for events'
    if (publicUrl !== undefined) {
      const probe = createWebhookProbe()
      open.use(await startWebhookServer(receiver.handler, { ...options, onRequest: probe.note }))
      where = await announce(receiver, publicUrl, probe, options)
    }
    await receiver.start()
    const stopped = interruption()
    console.error(`${where}. Ctrl-C ends it.`)
    await stopped
  })
}

/** Needs no exchange: the only key that counts is that of this run. */
async function listenToTests(options: ListenOptions): Promise<void> {
  const { dir, host, port, json, publicUrl } = options
  if (publicUrl !== undefined || options.cert !== undefined || !isLoopback(host))
    throw new CommandFailure(
      '--test listens on this machine without TLS: leave out --public-url, --cert and --host.',
    )
  const forward = options.forwardTo === undefined ? undefined : forwardTo(options.forwardTo)
  const { identity } = await explained(options, () => openAgentFolder(dir))
  const url = `http://${host}:${port}/events`
  await using open = new AsyncDisposableStack()
  const receiver = open.use(
    await createTestReceiver({
      dir,
      url,
      organizationId: identity.organizationId,
      onEvent: (event) => {
        print(event, json)
        forward?.(event).then(
          (status) => console.error(`  ${options.forwardTo} answered with ${status}`),
          (error: unknown) =>
            console.error(`  ${error instanceof Error ? visible(error.message) : 'failed'}`),
        )
      },
      onRejected: (error, status) => {
        for (const line of refusalLines(error, status, options)) console.error(line)
      },
    }),
  )
  open.use(await startWebhookServer(receiver.handler, { host, port }))
  const stopped = interruption()
  console.error(
    `Listening for test events at ${url}. Send one: ${folderStep(options, 'test-event', 'package.accepted')}`,
  )
  await stopped
}

function print(event: NotificationEnvelope, json: boolean | undefined): void {
  console.log(json ? visible(JSON.stringify(event)) : eventLine(event))
}

async function announce(
  receiver: Receiver,
  url: string,
  probe: WebhookProbe,
  { registerAgain = false, port }: ListenOptions,
): Promise<string> {
  const { webhook_endpoint_id: id } = await receiver.ensureEndpoint(url, { again: registerAgain })
  console.error(await probe.run(url, port))
  return `Listening for webhooks at ${url} (${id})`
}
