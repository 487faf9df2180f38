import type { Check } from '../../run/check.ts'
import { holds, same } from '../../run/expect.ts'
import type { AgentContext } from '../agent-context.ts'
import type { Notification } from '../scripted-stream.ts'
import { deliverEvent, handledAfter, isStored, store } from './webhooks.ts'

type AgentCheck = Check<AgentContext>

const check = (name: string, title: string, run: AgentCheck['run']): AgentCheck => ({
  name: `agent/stream/${name}`,
  ids: ['EVT-14'],
  title,
  run,
})
const append = ({ stream }: AgentContext, count: number) =>
  Array.from({ length: count }, () => stream.append())

/** These events were handled once each, in the order of their sequence. */
async function inOrder(context: AgentContext, events: readonly Notification[]): Promise<void> {
  const handled = await handledAfter(context, events)
  const wanted = events.map(({ event_id }) => event_id)
  same(
    handled.filter((id) => wanted.includes(id)).map((id) => wanted.indexOf(id) + 1),
    wanted.map((_, at) => at + 1),
    'the order in which the agent handled events that belong in the order 1, 2, …',
  )
}

export const STREAM_CHECKS: readonly AgentCheck[] = [
  check('duplicate', 'a repeated attempt is answered by 204 and handled once', async (context) => {
    const event = context.stream.append()
    await store(context, event)
    await store(context, event, { attempt: 2 })
    await inOrder(context, [event])
    await store(context, event, { attempt: 3 })
    await inOrder(context, [event])
  }),
  check('replay', 'a replay under a new delivery id is answered by 204 and handled once', async (context) => {
    const event = context.stream.append()
    await store(context, event)
    await inOrder(context, [event])
    await store(context, event, { deliveryId: context.newId('dlv') })
    await inOrder(context, [event])
  }),
  check('same-id-other-content', 'another event under a known event id is not stored', async (context) => {
    const event = context.stream.append()
    await store(context, event)
    const other = { ...event, package_id: context.newId('pkg') }
    const status = await deliverEvent(context, other)
    holds(!isStored(status), `the agent answered ${status} to other content under a known event id`)
    await inOrder(context, [event])
  }),
  check(
    'shuffled',
    'events that arrive in another order are stored, and handled by sequence',
    async (context) => {
      const events = append(context, 4)
      for (const at of [2, 1, 3, 0]) await store(context, events[at] as Notification)
      await inOrder(context, events)
    },
  ),
  check(
    'gap',
    'a gap is closed by polling, over several pages, before later events are handled',
    async (context) => {
      const events = append(context, 6)
      await store(context, events.at(-1) as Notification)
      await context.driver.ask('poll')
      await inOrder(context, events)
    },
  ),
  check('interrupted-poll', 'a page that fails loses no event', async (context) => {
    const events = append(context, 5)
    context.stream.refusals = 1
    // An agent may report the failure, or try again by itself.
    await context.driver.ask('poll').catch(() => undefined)
    context.stream.refusals = 0
    await context.driver.ask('poll')
    await inOrder(context, events)
  }),
  check('restart', 'what was answered by 204 survives a restart and is handled once', async (context) => {
    const events = append(context, 2)
    await store(context, events[1] as Notification)
    await context.driver.ask('restart')
    await store(context, events[0] as Notification)
    await store(context, events[1] as Notification, { attempt: 2 })
    await inOrder(context, events)
  }),
  check(
    'acknowledgements',
    'an acknowledgement names its event and no sequence beyond it',
    async (context) => {
      const events = append(context, 2)
      await context.driver.ask('poll')
      await inOrder(context, events)
      const acknowledged = context.exchange.requests.filter(({ path }) => path.endsWith('/ack'))
      for (const { path, body } of acknowledged) {
        const [, , , notificationId = ''] = path.split('/')
        const known = context.stream.events.find((each) => each.notification_id === notificationId)
        holds(known !== undefined, 'the agent acknowledged a notification that does not exist')
        same(body['event_id'], known.event_id, 'event_id of an acknowledgement')
        const mark = body['last_contiguous_sequence']
        holds(
          typeof mark === 'number' &&
            Number.isInteger(mark) &&
            mark >= 0 &&
            mark <= context.stream.events.length,
          `last_contiguous_sequence of an acknowledgement is ${JSON.stringify(mark)}`,
        )
      }
    },
  ),
  check('cursors', 'cursors are used as they were given', async (context) => {
    await context.driver.ask('poll')
    const asked = context.exchange.requests.filter(
      ({ method, path }) => method === 'GET' && path === '/v1/notifications',
    )
    holds(asked.length > 0, 'the agent did not read the stream when it was asked to poll')
    same(context.stream.inventedCursors, [], 'cursors that the exchange never gave')
  }),
]

/** These change the directory, so they run after the others. */
export const ROTATION_CHECKS: readonly AgentCheck[] = [
  check('rotation', 'a key that was published before its first use counts', async (context) => {
    context.keys.publish('next', { status: 'active' })
    await context.driver.ask('refresh_keys')
    const event = context.stream.append()
    const status = await deliverEvent(context, event, { key: 'next' })
    holds(status === 204, `a webhook by a key that was published before was answered by ${status}`)
  }),
  check(
    'revocation',
    'a key that the refreshed directory calls revoked no longer counts',
    async (context) => {
      const time = new Date(Date.now() - 60_000).toISOString()
      context.keys.publish('withdrawn', { status: 'revoked', revoked_at: time, invalid_from: time })
      await context.driver.ask('refresh_keys')
      const status = await deliverEvent(context, context.stream.draft(), { key: 'withdrawn' })
      holds(!isStored(status), `a webhook by a revoked key was answered by ${status}`)
    },
  ),
]
