import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NotificationKeyDirectory } from '@agent-exchange/protocol'
import { ExchangeError } from '../errors.ts'
import { directoryOf, testKey } from './delivery.fixture.ts'
import { FIXED_LIMITS, RECEIVE_LIMITS } from './receive-limits.ts'
import { MemoryInbox } from './memory-inbox.ts'
import { createNotificationKeys } from './notification-keys.ts'

const first = await testKey('key_1')
const second = await testKey('key_2')
const START = Date.parse('2026-03-01T12:00:00Z')
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

/** A directory that can be changed, go silent, and counts who asks; and time that can be moved. */
function exchange(directory: NotificationKeyDirectory = directoryOf([first])) {
  const state = {
    directory,
    asked: 0,
    time: START,
    answer: undefined as Promise<unknown> | undefined,
    isDown: false,
  }
  const store = new MemoryInbox()
  const troubles: unknown[] = []
  const start = (refreshMs?: number) =>
    createNotificationKeys({
      fetchDirectory: async () => {
        state.asked++
        await state.answer
        if (state.isDown) throw new ExchangeError('exchange_unreachable', { retryable: true })
        return state.directory
      },
      store,
      now: () => new Date(state.time),
      onTrouble: (error) => troubles.push(error),
      ...(refreshMs !== undefined && { refreshMs }),
    })
  return { state, store, start, troubles }
}

test('[EVT-14] keys are pinned with directory_version, and survive a restart without the exchange', async () => {
  const { state, start } = exchange()
  const pins = await start().refresh()
  assert.deepEqual([pins.directory_version, pins.keys.map(({ key_id }) => key_id)], ['v1', ['key_1']])
  state.isDown = true
  const restarted = start()
  assert.equal((await restarted.find('key_1'))?.status, 'active')
  assert.equal((await restarted.pins())?.directory_version, 'v1')
  assert.equal(state.asked, 1)
})

test('[EVT-14] the directory is asked again at the interval, and before the end of a key', async () => {
  const ending = await testKey('key_e', { valid_until: new Date(START + 10 * DAY).toISOString() })
  const { state, start } = exchange(directoryOf([ending]))
  const keys = start(365 * DAY)
  await keys.refreshIfDue()
  state.time = START + 8 * DAY
  await keys.refreshIfDue()
  assert.equal(state.asked, 1)
  state.time = START + 9 * DAY
  await keys.refreshIfDue()
  assert.equal(state.asked, 2, 'a day before valid_until')
  state.time += FIXED_LIMITS.keyRefreshRetryMs - 1
  await keys.refreshIfDue()
  assert.equal(state.asked, 2, 'not in a loop, though the end is near')

  const often = exchange()
  const other = often.start()
  for (const minutes of [0, 4, 5, 9, 10]) {
    often.state.time = START + minutes * MINUTE
    await other.refreshIfDue()
  }
  assert.equal(often.state.asked, 3)
})

test('[EVT-13] a new key is found at once; one that left the directory signs nothing new and is kept', async () => {
  const { state, start } = exchange()
  const keys = start()
  await keys.refresh()
  state.directory = directoryOf([second], 'v2')
  assert.equal((await keys.find('key_2'))?.status, 'active')
  assert.equal(state.asked, 2)
  assert.equal((await keys.find('key_1'))?.status, 'retired')
  const old = (await keys.pins())?.keys.find(({ key_id }) => key_id === 'key_1')
  assert.equal(old?.left_directory_at, new Date(START).toISOString())
  assert.deepEqual(old.public_key, first.entry.public_key)
  state.time += MINUTE
  await keys.refresh()
  const kept = (await keys.pins())?.keys.find(({ key_id }) => key_id === 'key_1')
  assert.equal(kept?.left_directory_at, old.left_directory_at, 'since when it is gone does not move')
  // It may come back, and is then what the directory says.
  state.directory = directoryOf([second, first], 'v3')
  await keys.refresh()
  assert.equal((await keys.find('key_1'))?.status, 'active')
})

test('[EVT-14] a revocation is noticed within the interval, and is final', async () => {
  const { state, start } = exchange()
  const keys = start()
  await keys.refresh()
  state.directory = { ...directoryOf([first], 'v2'), keys: [{ ...first.entry, status: 'revoked' }] }
  assert.equal((await keys.find('key_1'))?.status, 'active')
  state.time += RECEIVE_LIMITS.keyRefreshMs
  assert.equal((await keys.find('key_1'))?.status, 'revoked')
  state.directory = directoryOf([second], 'v3')
  await keys.refresh()
  assert.equal((await keys.find('key_1'))?.status, 'revoked')
})

test('[EVT-14][ID-08] a standby key is pinned with the others: an emergency needs no refresh, and the revoked key is refused after one', async () => {
  const standby = await testKey('key_standby')
  const { state, start } = exchange(directoryOf([first, standby]))
  const keys = start()
  await keys.refresh()
  assert.equal((await keys.find('key_standby'))?.status, 'active')
  assert.equal(state.asked, 1)
  const at = new Date(START).toISOString()
  const revoked = { ...first.entry, status: 'revoked', revoked_at: at, invalid_from: at }
  state.directory = { ...directoryOf([standby], 'v2'), keys: [standby.entry, revoked] }
  state.time += RECEIVE_LIMITS.keyRefreshMs
  assert.equal((await keys.find('key_1'))?.status, 'revoked')
  assert.equal((await keys.find('key_standby'))?.status, 'active')
  assert.equal(state.asked, 2)
})

test('other material under a pinned id is refused, and the pinned key stays', async () => {
  const { state, start, store } = exchange()
  const keys = start()
  await keys.refresh()
  const before = await store.readValue('notification_keys')
  state.directory = directoryOf([{ ...second, entry: { ...second.entry, key_id: 'key_1' } }], 'v2')
  await assert.rejects(keys.refresh(), { code: 'notification_keys_changed', details: { key_id: 'key_1' } })
  assert.equal(await store.readValue('notification_keys'), before)
  assert.equal((await keys.find('key_1'))?.publicKey.jwk.x, first.entry.public_key.x)
})

test('[EVT-14] deliveries that name an unknown key share one request', async () => {
  const { state, start } = exchange()
  const keys = start()
  await keys.refresh()
  let release: (value?: unknown) => void = () => undefined
  state.answer = new Promise((resolve) => (release = resolve))
  state.directory = directoryOf([first, second], 'v2')
  const waiting = Array.from({ length: 50 }, () => keys.find('key_2'))
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(state.asked, 2)
  release()
  const found = await Promise.all(waiting)
  assert.ok(found.every((key) => key?.status === 'active'))
  assert.equal(state.asked, 2)
})

test('[EVT-14] strangers cannot make us ask the exchange more than a few times; the rest comes again', async () => {
  const { state, start } = exchange()
  const keys = start()
  await keys.refresh()
  const { unknownKeyBurst, unknownKeyRefillMs } = FIXED_LIMITS
  const outcomes: string[] = []
  for (let i = 0; i < 200; i++) {
    state.time += 1
    outcomes.push(
      await keys.find(`key_made_up_${i}`).then(
        () => 'unknown',
        () => 'later',
      ),
    )
  }
  assert.equal(state.asked, 1 + unknownKeyBurst)
  assert.equal(outcomes.filter((outcome) => outcome === 'unknown').length, unknownKeyBurst)
  // Known keys are not touched by that, and after a while there is room again.
  assert.equal((await keys.find('key_1'))?.status, 'active')
  state.time += unknownKeyRefillMs
  assert.equal(await keys.find('key_made_up'), undefined)
  await assert.rejects(keys.find('key_made_up'), { code: 'exchange_unreachable', retryable: true })
})

test('[EVT-14] while the directory is down an unknown key cannot be judged, and known ones still hold', async () => {
  const { state, start, troubles } = exchange()
  const keys = start()
  await keys.refresh()
  state.isDown = true
  state.time += MINUTE
  await assert.rejects(keys.find('key_2'), { code: 'exchange_unreachable' })
  state.time += DAY
  assert.equal((await keys.find('key_1'))?.status, 'active')
  assert.equal(troubles.length, 1)
  const asked = state.asked
  assert.equal((await keys.find('key_1'))?.status, 'active')
  assert.equal(state.asked, asked, 'a refresh that failed is not repeated with every delivery')
})

test('a key past its valid_until is looked up before it is refused: the exchange may have prolonged it', async () => {
  const short = await testKey('key_s', { valid_until: new Date(START + MINUTE).toISOString() })
  const { state, start } = exchange(directoryOf([short]))
  const keys = start(DAY)
  await keys.refresh()
  state.time = START + 2 * MINUTE
  const prolonged = new Date(START + DAY).toISOString()
  state.directory = { ...directoryOf([short], 'v2'), keys: [{ ...short.entry, valid_until: prolonged }] }
  assert.equal((await keys.find('key_s'))?.valid_until, prolonged)
})

test('a directory without end is refused, and old keys are kept up to a limit', async () => {
  const { state, start } = exchange()
  const keys = start()
  const many = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, i) => ({
      ...first,
      entry: { ...first.entry, key_id: `${prefix}${i}` },
    }))
  state.directory = directoryOf(many('key_', FIXED_LIMITS.directoryKeys + 1))
  await assert.rejects(keys.refresh(), { code: 'exchange_answer_unreadable' })
  for (let round = 0; round < 8; round++) {
    state.directory = directoryOf(many(`key_${round}_`, FIXED_LIMITS.directoryKeys))
    state.time += MINUTE
    await keys.refresh()
  }
  const pinned = (await keys.pins())?.keys ?? []
  assert.equal(pinned.length, FIXED_LIMITS.directoryKeys + FIXED_LIMITS.keptKeys)
  assert.ok(!pinned.some(({ key_id }) => key_id.startsWith('key_0_')), 'the oldest go first')
})
