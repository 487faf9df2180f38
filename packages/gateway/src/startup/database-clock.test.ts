import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { systemClock } from '@agent-exchange/server/clock'
import { gatewayDatabase } from '../stores/gateway-database.fixture.ts'
import { databaseClock } from './database-clock.ts'

const HOUR_MS = 3_600_000
const opened = await gatewayDatabase()
after(() => opened[Symbol.asyncDispose]())

test('a clock that is an hour ahead is corrected by the time of the database; a right one is left alone', async () => {
  for (const ahead of [HOUR_MS, -HOUR_MS, 0]) {
    const own = () => new Date(Date.now() + ahead).toISOString()
    const clock = databaseClock({ ...systemClock, now: own })
    const corrected = await clock.compare(opened.db)
    assert.ok(Math.abs(Date.parse(clock.now()) - Date.now()) < 2_500, `${ahead}`)
    assert.ok(Math.abs(corrected + ahead) < 2_500)
    if (ahead === 0) assert.equal(corrected, 0)
  }
})
