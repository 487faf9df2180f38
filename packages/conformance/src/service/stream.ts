import { holds, listOf, succeeded } from '../run/expect.ts'
import type { Agent } from './agent.ts'

export type Notification = Readonly<Record<string, unknown>>

export const isAcceptance = ({ event_type }: Notification) => event_type === 'package.accepted'

/** Pages of one walk through a stream. */
const MAXIMUM_PAGES = 400

export interface StreamWalk {
  readonly items: readonly Notification[]
  readonly cursor: string
}

/** Reads a stream to its end, from its beginning or after a cursor. */
export async function walkStream({ organization }: Agent, after?: string): Promise<StreamWalk> {
  const items: Notification[] = []
  let cursor = after
  for (let page = 0; page < MAXIMUM_PAGES; page++) {
    // Without a limit: which ones are taken is an open point (O-15).
    const query = new URLSearchParams(cursor === undefined ? {} : { after: cursor })
    const answer = succeeded(
      await organization.call('GET', `/v1/notifications?${query.toString()}`),
      200,
      'polling',
      ['API-01', 'EVT-10'],
    )
    items.push(...listOf(answer.body['items'], 'items of the notification page'))
    const next = answer.body['next_cursor']
    holds(typeof next === 'string', 'next_cursor of the notification page is no string', ['EVT-10'])
    cursor = next
    if (answer.body['has_more'] !== true) return { items, cursor }
  }
  throw new Error(`the stream has more than ${MAXIMUM_PAGES} pages: use organizations of their own`)
}

/** The notifications of a package. */
export async function notificationsOf(
  agent: Agent,
  packageId: string,
  after?: string,
): Promise<Notification[]> {
  const { items } = await walkStream(agent, after)
  return items.filter(({ package_id }) => package_id === packageId)
}
