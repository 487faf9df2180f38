import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { NotificationEnvelope } from '@agent-exchange/protocol'
import type { Receiver } from '@agent-exchange/sdk'
import { toNodeListener, type FolderAgent } from '@agent-exchange/sdk/node'
import { CommandFailure } from '../packages/cli/src/failure.ts'
import type { DemoExchange } from './demo-exchange.ts'
import { registerAgent, type Registration } from './register-agent.ts'
import { LANE_NAMES, short, type Side, type Timeline } from './timeline.ts'

/** A company of the demo: one agent with its folder, and a receiver for signed webhooks over TLS. */
export interface Company extends AsyncDisposable {
  readonly lane: Side
  readonly agent: FolderAgent
  readonly receiver: Receiver
  /** Events that were handled, in the order of the stream. */
  readonly events: readonly NotificationEnvelope[]
  /** Waits for an event of a package. */
  waitForEvent(packageId: string, eventType: string): Promise<NotificationEnvelope>
}

const PATIENCE_MS = 15_000

/** Creates and registers an agent that receives events. */
export async function foundCompany(exchange: DemoExchange, founding: Registration): Promise<Company> {
  const { lane, timeline } = founding
  const cleanup = new AsyncDisposableStack()
  await using undo = cleanup
  const agent = cleanup.use(await registerAgent(exchange, founding))
  const heard = eventsOf(lane, timeline)
  const receiver = cleanup.use(
    agent.receiver({
      inbox: agent.inbox(),
      handle: async (event) => heard.add(event),
      onReport: (report) => {
        if (report.kind === 'webhook_rejected')
          timeline.add({ who: lane, kind: 'note', what: 'refuses a webhook', detail: report.error.message })
      },
    }),
  )
  await receiver.start()
  const url = await serve(receiver, exchange.receivers, cleanup)
  await receiver.ensureEndpoint(url)
  const stop = undo.move()
  return {
    lane,
    agent,
    receiver,
    events: heard.events,
    waitForEvent: heard.waitForEvent,
    [Symbol.asyncDispose]: () => stop.disposeAsync(),
  }
}

/** A receiver behind TLS on this machine; returns its address. */
async function serve(
  receiver: Receiver,
  { certificate, key }: DemoExchange['receivers'],
  cleanup: AsyncDisposableStack,
): Promise<string> {
  const server = createServer({ cert: certificate, key }, toNodeListener(receiver.handler))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanup.defer(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return `https://localhost:${(server.address() as AddressInfo).port}/events`
}

/** Shows each event as it is handled, and lets the story wait for one. */
function eventsOf(lane: Company['lane'], timeline: Timeline) {
  const events: NotificationEnvelope[] = []
  const waiting = new Set<() => void>()
  return {
    events,
    add(event: NotificationEnvelope) {
      events.push(event)
      timeline.add({
        who: 'exchange',
        to: lane,
        kind: 'event',
        what: `${event.event_type} #${event.sequence}`,
        detail: `${short(event.package_id)}  state ${event.state}  signature verified, stored, in order`,
      })
      for (const look of waiting) look()
    },
    async waitForEvent(packageId: string, eventType: string): Promise<NotificationEnvelope> {
      const find = () =>
        events.find((event) => event.package_id === packageId && event.event_type === eventType)
      const { promise, resolve, reject } = Promise.withResolvers<NotificationEnvelope>()
      const look = () => {
        const event = find()
        if (event) resolve(event)
      }
      const timer = setTimeout(
        () => reject(new CommandFailure(`${LANE_NAMES[lane]} did not receive ${eventType} in time.`)),
        PATIENCE_MS,
      )
      waiting.add(look)
      look()
      try {
        return await promise
      } finally {
        clearTimeout(timer)
        waiting.delete(look)
      }
    },
  }
}
