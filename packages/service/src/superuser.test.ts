import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { startWorld, testDatabase } from '@agent-exchange/testkit'
import { openDatabase } from '@agent-exchange/database'

const WARNING = 'is a superuser'

test('an outside database works with a role that only owns it; a superuser is warned of in the log', async () => {
  await using database = await testDatabase()
  const administrator = openDatabase({ target: database.url, maximumConnections: 1, applicationName: 'test' })
  const role = `owner_${randomBytes(6).toString('hex')}`
  const name = administrator.database
  await administrator.unsafe(`create role ${role} login password 'owner'`)
  try {
    await administrator.unsafe('drop schema public cascade')
    await administrator.unsafe(`alter database ${name} owner to ${role}`)
    await administrator.unsafe(`create schema public authorization ${role}`)
    const databaseUrl = Object.assign(new URL(database.url), { username: role, password: 'owner' }).href
    await using world = await startWorld({ config: { databaseUrl } })
    const organization = await world.organization('modest')
    assert.equal((await organization.get('/v1/skills')).status, 200)
    assert.ok(!world.logged.join('').includes(WARNING))

    await administrator.unsafe(`alter role ${role} superuser`)
    await using second = await startWorld({ beside: world, config: { databaseUrl } })
    assert.ok(second.logged.some((line) => line.includes(WARNING) && line.includes('"level":40')))
  } finally {
    await administrator.unsafe(
      `reassign owned by ${role} to current_user; drop owned by ${role}; drop role ${role}`,
    )
    await administrator.end()
  }
})
