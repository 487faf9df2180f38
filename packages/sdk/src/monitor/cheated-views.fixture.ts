import assert from 'node:assert/strict'
import { compareViews, keysIn, readLogView, verifySplitView } from '@agent-exchange/log'
import { TestLog } from '@agent-exchange/testkit'
import { createContext } from '../create-context.ts'
import { ExchangeError } from '../errors.ts'
import { checkLog } from '../log/accept-checkpoint.ts'
import { watchLog } from '../log/watch-log.ts'
import { createMemoryLogState } from '../log-state.ts'
import { openPackage } from '../open/open-package.ts'
import { createMemoryOutbox } from '../outbox/memory-outbox.ts'
import { createMemoryPinStore } from '../peers/memory-pin-store.ts'
import { inputFor } from '../send/drafts.fixture.ts'
import { sendPackage } from '../send/send-package.ts'
import { Operator, type CheatingExchange } from './cheating-exchange.fixture.ts'
import { logPolicy, seconds, type CheatingWay, type Noticed } from './cheating-way.fixture.ts'

const MAXIMUM_CONTACTS = 20
const OTHER_LEAF = new Uint8Array(64).fill(66)

/** A fork of the exchange's log: its second leaf differs, and it has this many more leaves. */
function forkOf({ world, capsule }: CheatingExchange, more: number): TestLog {
  const log = new TestLog({ platform: world })
  log.logCapsule(capsule)
  log.leaves[1] = OTHER_LEAF
  for (let at = 0; at < more; at++) log.leaves.push(OTHER_LEAF)
  return log
}

/** The agent contacts the exchange again and again until it fails. It keeps a file with both checkpoints. */
async function nextContacts(operator: Operator, minutesBetween: number): Promise<Noticed> {
  for (let contacts = 1; contacts <= MAXIMUM_CONTACTS; contacts++) {
    operator.advance(minutesBetween)
    const failure = await watchLog(operator.agent).then(
      () => undefined,
      (error: unknown) => error,
    )
    if (!(failure instanceof ExchangeError)) continue
    assert.equal(operator.state.splitViews.length, 1)
    const minutes = (contacts * minutesBetween).toFixed(1)
    return { codes: [failure.code], after: `contact ${contacts}, ${minutes} minutes by the clock` }
  }
  return { codes: [], after: 'never' }
}

/** Whether a third party reads in the file that one key signed two histories. */
async function convicts(view: unknown): Promise<boolean> {
  return (await verifySplitView(view, { policy: logPolicy })).outcome === 'contradiction'
}

/** Found because two views of one log meet. */
export const FOUND_BY_VIEWS: readonly CheatingWay[] = [
  {
    operator: 'shows two parties two logs, without a witness, and they exchange a package',
    noticedBy: 'the recipient of the package',
    codes: ['log_split_view'],
    when: 'the next package between them',
    async play(exchange) {
      const { proxy, thread } = exchange
      const { log } = new Operator(exchange)
      const fork = forkOf(exchange, 3)
      await log.publish()
      await fork.publish()
      const pins = createMemoryPinStore()
      const sender = createContext({ ...thread.bolt.options, log: createMemoryLogState(), pins })
      const started = performance.now()
      const input = inputFor(thread.bolt, thread.acme)
      const sent = await sendPackage(sender, input, { outbox: createMemoryOutbox() })
      proxy.before = ({ path }) => fork.answer(path)
      const state = createMemoryLogState()
      const recipient = createContext({ ...thread.acme.options, log: state })
      const { logConflict, receipts } = await openPackage(recipient, sent.packageId)
      // It stops nothing but trust.
      assert.deepEqual(
        receipts.map(({ state: reached }) => reached),
        ['received', 'opened'],
      )
      assert.ok(await convicts(state.splitViews[0]))
      const codes = logConflict ? [logConflict.code] : []
      return { codes, after: `package 1, sent and opened in ${seconds(started)}` }
    },
  },
  {
    operator: 'shows two parties two logs, and they compare files of two sizes',
    noticedBy: 'whoever runs `aex log compare`',
    codes: ['fork'],
    when: 'at once',
    async play(exchange) {
      const operator = new Operator(exchange)
      await operator.log.publish()
      await checkLog(operator.agent)
      const log = forkOf(exchange, 0)
      await log.publish()
      log.leaves.push(OTHER_LEAF)
      await log.publish()
      const { history } = JSON.parse(String((await log.answer('/log/history?index=0'))?.body)) as {
        readonly history: readonly object[]
      }
      const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
      const mine = bytes(await operator.state.read())
      const theirs = bytes({ log: { checkpoint: log.checkpoint, history } })
      const started = performance.now()
      const [first, second] = [await readLogView(mine, []), await readLogView(theirs, keysIn(mine))]
      const found = await compareViews(first, second, { foundAt: '2026-01-01T00:00:00.000Z' })
      const after = `compared in ${seconds(started)}`
      assert.ok(found.outcome === 'fork')
      assert.ok(await convicts(found.view))
      return { codes: [found.outcome], after }
    },
  },
  {
    operator: 'signs two histories, and shows one agent both',
    noticedBy: 'the agent',
    codes: ['log_split_view'],
    when: 'the next look at the log, at most a minute after the last',
    async play(exchange) {
      const operator = new Operator(exchange)
      await operator.log.publish()
      await watchLog(operator.agent)
      operator.log.leaves[1] = OTHER_LEAF
      operator.log.leaves.push(OTHER_LEAF)
      await operator.log.publish()
      const noticed = await nextContacts(operator, 1 / 6)
      assert.ok(await convicts(operator.state.splitViews[0]))
      return noticed
    },
  },
  {
    operator: 'signs two histories, and withholds the proof that would tell',
    noticedBy: 'the agent',
    codes: ['log_split_view'],
    when: 'an hour and three contacts',
    async play(exchange) {
      const operator = new Operator(exchange)
      await operator.log.publish()
      await watchLog(operator.agent)
      const { log } = operator
      log.leaves[1] = OTHER_LEAF
      log.leaves.push(OTHER_LEAF)
      await log.publish()
      exchange.proxy.before = ({ path }) =>
        path.startsWith('/log/tile') ? { status: 404, headers: {}, body: '' } : log.answer(path)
      return nextContacts(operator, 10)
    },
  },
  {
    operator: 'restores an old backup',
    noticedBy: 'the agent',
    codes: ['log_rolled_back'],
    when: 'the next look at the log, at most a minute after the last',
    async play(exchange) {
      const operator = new Operator(exchange)
      await operator.log.publish()
      await watchLog(operator.agent)
      await operator.log.publish({ size: 2 })
      return nextContacts(operator, 1 / 6)
    },
  },
]
