import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openSqliteInbox } from './sqlite-inbox.ts'

// What every inbox promises is in receive/inbox.test.ts; here is what only a file can do.
const folder = mkdtempSync(join(tmpdir(), 'aex-sqlite-'))
after(() => rmSync(folder, { recursive: true }))
const AT = '2026-03-01T12:00:00.000Z'
const event = (sequence: number) => ({
  eventId: `evt_${sequence}`,
  notificationId: `ntf_${sequence}`,
  sequence,
  body: '{}',
})

test('[EVT-14] everything is there after the file was closed and opened', async () => {
  const file = join(folder, 'made', 'on-demand', 'again.db')
  const first = openSqliteInbox(file)
  await first.bind({ exchange: 'https://e.example', organizationId: 'org_a' })
  await first.storePage({
    events: [event(2), event(3)],
    nextCursor: 'c',
    storedAt: AT,
    gapReason: 'before_first_poll',
  })
  await first.beginAttempt('evt_2', { holder: 'receiver_a', now: AT, until: AT })
  await first.writeValue('keys', 'k')
  const seen = [await first.position(), await first.gaps(), await first.list('pending', 9)]
  await first.close()
  await using second = openSqliteInbox(file)
  assert.deepEqual([await second.position(), await second.gaps(), await second.list('pending', 9)], seen)
  assert.equal(await second.readValue('keys'), 'k')
  assert.equal((await second.next())?.attempts, 1)
  await assert.rejects(second.bind({ exchange: 'https://e.example', organizationId: 'org_b' }), /org_a/)
})

test('an effect of the owner’s shares the transaction: both or neither', async () => {
  await using inbox = openSqliteInbox(join(folder, 'effect.db'))
  inbox.database.exec('create table total (n integer not null) strict; insert into total values (0)')
  const total = () => inbox.database.prepare('select n from total').get()?.['n']
  await inbox.store(event(1), 'webhook', AT)
  const failing = inbox.finish('evt_1', AT, (database) => {
    database.exec('update total set n = n + 1')
    throw new Error('after the change')
  })
  await assert.rejects(failing, { message: 'after the change' })
  assert.equal(total(), 0)
  assert.equal(
    await inbox.finish('evt_1', AT, (database) => database.exec('update total set n = n + 1')),
    true,
  )
  assert.equal(
    await inbox.finish('evt_1', AT, (database) => database.exec('update total set n = n + 1')),
    false,
  )
  assert.equal(total(), 1)
})

test('every commit is on disk before it returns', async () => {
  await using inbox = openSqliteInbox(join(folder, 'durable.db'))
  assert.equal(inbox.database.prepare('pragma journal_mode').get()?.['journal_mode'], 'wal')
  assert.equal(inbox.database.prepare('pragma synchronous').get()?.['synchronous'], 2)
})

test('nobody but the owner can read the file, nor what SQLite puts beside it', async () => {
  const place = join(folder, 'private')
  await using inbox = openSqliteInbox(join(place, 'inbox.db'))
  await inbox.store(event(1), 'webhook', AT)
  const modes = readdirSync(place).map((name) => statSync(join(place, name)).mode & 0o777)
  assert.ok(modes.length >= 2)
  assert.deepEqual(new Set(modes), new Set([0o600]))
})

test('two processes on one file take turns, and an effect still happens once', async () => {
  const file = join(folder, 'shared.db')
  await using one = openSqliteInbox(file)
  await using other = openSqliteInbox(file)
  await Promise.all([one.store(event(1), 'webhook', AT), other.store(event(2), 'poll', AT)])
  assert.equal(await other.store(event(1), 'webhook', AT), 'duplicate')
  let effects = 0
  const done = await Promise.all([
    one.finish('evt_1', AT, () => void effects++),
    other.finish('evt_1', AT, () => void effects++),
  ])
  assert.deepEqual([done.filter(Boolean).length, effects], [1, 1])
})

test('trouble with the file is one code, which says that the event will come again', async () => {
  const damaged = join(folder, 'damaged.db')
  writeFileSync(damaged, 'this is no database'.repeat(100))
  assert.throws(() => openSqliteInbox(damaged), { code: 'inbox_unavailable', retryable: true })
  assert.throws(() => openSqliteInbox(folder), { code: 'inbox_unavailable' })
  const closed = openSqliteInbox(join(folder, 'closed.db'))
  await closed.close()
  await assert.rejects(closed.store(event(1), 'webhook', AT), { code: 'inbox_unavailable', retryable: true })
  await closed.close()
})

test('a file of a later version is left alone', async () => {
  const file = join(folder, 'later.db')
  const inbox = openSqliteInbox(file)
  inbox.database.exec("update aex_value set value = '999' where name = 'version'")
  await inbox.close()
  assert.throws(
    () => openSqliteInbox(file),
    (error: Error) => /version 999/.test(String(error.cause)),
  )
})
