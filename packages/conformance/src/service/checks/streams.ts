import type { Check } from '../../run/check.ts'
import { holds, listOf, refused, same, succeeded } from '../../run/expect.ts'
import { sent } from '../scene.ts'
import { NOTIFICATION } from '../resources.ts'
import { requireShape } from '../shape.ts'
import type { Agent } from '../agent.ts'
import type { Answer } from '../../wire/wire.ts'
import { isAcceptance, notificationsOf, walkStream } from '../stream.ts'

const WRITERS = 8
const SMALL_PAGES = 6
/** Pages of events that arrive while the end of a stream is looked for. */
const MAXIMUM_LATE_PAGES = 10

const envelope: Check = {
  name: 'streams/notification',
  ids: ['EVT-02', 'EVT-01'],
  title: 'the event of an accepted package is in the stream of its recipient, with exactly its members',
  async run(context) {
    const { recipient } = context
    const before = await walkStream(recipient)
    const draft = await sent(context)
    const read = () => notificationsOf(recipient, draft.packageId, before.cursor)
    const notification = (await context.eventually(read, (all) => all.some(isAcceptance))).find(isAcceptance)
    holds(
      notification !== undefined,
      'no notification package.accepted of an accepted package is in the stream of its recipient',
      ['EVT-01'],
    )
    requireShape(notification, NOTIFICATION, 'a notification', ['EVT-02'])
    same(
      Object.keys(notification).toSorted(),
      Object.keys(NOTIFICATION).toSorted(),
      'the members of a notification',
      ['EVT-02'],
    )
    same(notification['organization_id'], recipient.organization.organizationId, 'organization_id', [
      'EVT-02',
    ])
    same(notification['content_digest'], draft.metadata['content_digest'], 'content_digest', ['EVT-02'])
    same(notification['thread_id'], draft.threadId, 'thread_id', ['EVT-02'])
  },
}

const gapless: Check = {
  name: 'streams/gapless',
  ids: ['EVT-04', 'EVT-10'],
  title: 'sequences rise by one while packages arrive at once, and a reader beside them misses nothing',
  async run(context) {
    const { recipient } = context
    const start = await walkStream(recipient)
    const isWriting = { now: true }
    const read: number[] = []
    let { cursor } = start
    const readOn = async () => {
      const walk = await walkStream(recipient, cursor)
      read.push(...walk.items.map(({ sequence }) => Number(sequence)))
      ;({ cursor } = walk)
    }
    const reader = (async () => {
      while (isWriting.now) await readOn()
    })()
    const drafts = await Promise.all(Array.from({ length: WRITERS }, () => sent(context)))
    isWriting.now = false
    await reader
    await context.eventually(readOn, () => read.length >= drafts.length)
    const first = start.items.at(-1)?.['sequence']
    const expected = read.map((_, index) => (typeof first === 'number' ? first + 1 : (read[0] ?? 0)) + index)
    same(read, expected, 'the sequences that were read while packages arrived')
    holds(read.length >= drafts.length, `${drafts.length} packages left ${read.length} notifications`, [
      'EVT-10',
    ])
  },
}

const polling: Check = {
  name: 'streams/polling',
  ids: ['EVT-10', 'API-06', 'EVT-03', 'EVT-04'],
  title: 'small pages are the stream from its beginning, and the end has a cursor too',
  async run(context) {
    const { recipient } = context
    await sent(context)
    const whole = await walkStream(recipient)
    const sequences = whole.items.map(({ sequence }) => Number(sequence))
    const rising = sequences.map((_, index) => (sequences[0] ?? 0) + index)
    same(sequences, rising, 'the sequences of the whole stream', ['EVT-04', 'EVT-10'])
    const small: unknown[] = []
    let cursor: string | undefined
    let largest = 0
    for (let count = 0; count < SMALL_PAGES; count++) {
      const query = new URLSearchParams({ limit: '1', ...(cursor !== undefined && { after: cursor }) })
      const page = await recipient.organization.call('GET', `/v1/notifications?${query.toString()}`)
      if (page.status >= 400 && page.status < 500) {
        context.note('O-15', `limit=1 is refused by ${page.status}`)
        break
      }
      const { body } = succeeded(page, 200, 'polling with a limit')
      const items = Array.isArray(body['items']) ? body['items'] : []
      largest = Math.max(largest, items.length)
      small.push(...items)
      cursor = String(body['next_cursor'])
    }
    // What is the smallest page is an open point, so a service may return more than was asked for.
    context.note('O-15', `limit=1 returns pages of at most ${largest}`)
    const shared = Math.min(small.length, whole.items.length)
    same(small.slice(0, shared), whole.items.slice(0, shared), 'small pages', ['EVT-10', 'API-06', 'EVT-03'])
    const { body } = await endOf(recipient, whole.cursor)
    same(
      [body['items'], body['has_more'], typeof body['next_cursor']],
      [[], false, 'string'],
      'the page after the end',
      ['EVT-10'],
    )
  },
}

/** The page after the end. Events that happen in the background may move the end a few times. */
async function endOf({ organization }: Agent, cursor: string): Promise<Answer> {
  let after = cursor
  for (let late = 0; ; late++) {
    const query = new URLSearchParams({ after })
    const page = await organization.call('GET', `/v1/notifications?${query.toString()}`)
    const { body } = succeeded(page, 200, 'polling after the last item')
    if (late === MAXIMUM_LATE_PAGES || listOf(body['items'], 'items of the last page').length === 0)
      return page
    after = String(body['next_cursor'])
  }
}

const cursors: Check = {
  name: 'streams/invented-cursor',
  ids: ['API-06'],
  title: 'a cursor that the service did not make is refused',
  async run({ recipient, newId }) {
    // A number, or JSON in base64url, may well be a cursor of some service.
    const after = [newId('x'), newId('x')].map((id) => id.slice('x_'.length)).join('')
    for (const path of ['/v1/notifications', '/v1/skills'])
      refused(
        await recipient.organization.call('GET', `${path}?${new URLSearchParams({ after }).toString()}`),
        `${path} after an invented cursor`,
      )
  },
}

const bothViews: Check = {
  name: 'streams/own-stream',
  ids: ['EVT-02', 'AUTH-03'],
  title: 'a stream holds events of its own organization only',
  async run(context) {
    const { sender, recipient, outsider } = context
    const { packageId } = await sent(context)
    same(
      (await notificationsOf(outsider, packageId)).length,
      0,
      'events in the stream of an organization that is no party',
    )
    const inRecipient = await context.eventually(
      () => notificationsOf(recipient, packageId),
      ({ length }) => length > 0,
    )
    const inSender = await notificationsOf(sender, packageId)
    if (inRecipient.length > 0)
      context.note(
        'O-25',
        inSender.length > 0 ? 'both parties are notified' : 'only the recipient is notified',
      )
    const { items } = await walkStream(recipient)
    holds(items.length > 0, 'the stream of the recipient of a package is empty', ['EVT-01'])
    const organizations = new Set(items.map(({ organization_id }) => organization_id))
    same([...organizations], [recipient.organization.organizationId], 'organizations in one stream')
  },
}

export const STREAM_CHECKS: readonly Check[] = [envelope, gapless, polling, cursors, bothViews]
