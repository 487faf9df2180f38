import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exampleObjects } from '@agent-exchange/protocol'
import { gatewayDatabase } from '../stores/gateway-database.fixture.ts'
import { noteDeadline } from './response-deadlines.ts'

const receivedAt = '2026-03-02T00:00:00.000Z'

test('every deadline that the protocol accepts is stored, and none of a package that requires no answer', async () => {
  await using database = await gatewayDatabase()
  const { db } = database
  const agentId = await database.newAgent()
  const note = (packageId: string, deadline: string, required = true) => {
    const example = exampleObjects.reasoning_package
    const object = { ...example, response_required: { ...example.response_required, required, deadline } }
    return db.begin((tx) =>
      noteDeadline(tx, { agentId, packageId, threadId: 'thread_1', object, receivedAt }),
    )
  }
  await note('pkg_wide_offset', '2026-03-04T12:00:00+23:59')
  await note('pkg_leap_second', '2026-12-31T23:59:60Z')
  await note('pkg_early', '0000-01-01T00:00:00Z')
  await note('pkg_late', '9999-12-31T23:59:59-23:59')
  await note('pkg_not_required', '2026-03-04T12:00:00Z', false)
  const rows = await db<{ package_id: string; due_at: string }[]>`
    select package_id, due_at from response_deadline order by due_at`
  assert.deepEqual(
    rows.map(({ package_id, due_at }) => [package_id, new Date(due_at).toISOString()]),
    [
      ['pkg_early', '0001-01-01T00:00:00.000Z'],
      ['pkg_wide_offset', '2026-03-03T12:01:00.000Z'],
      ['pkg_leap_second', '2027-01-01T00:00:00.000Z'],
      ['pkg_late', '9999-12-31T23:59:59.999Z'],
    ],
  )
})
