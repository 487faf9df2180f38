import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startWorld, until, type Organization, type World } from '@agent-exchange/testkit'

const RATE = 5
const BURST = 60
const SLICE = 3
const REQUESTS = 300
const profile = { 'O-13': { requests_per_second: RATE, burst: BURST, leased_requests: SLICE } }

const one = await startWorld({ profile })
after(() => one[Symbol.asyncDispose]())

async function admitted(organization: Organization, worlds: readonly World[]): Promise<number> {
  const answers = await Promise.all(
    Array.from({ length: REQUESTS }, (_, number) =>
      organization.get('/v1/notifications', { at: worlds[number % worlds.length]?.url ?? one.url }),
    ),
  )
  for (const { status, body } of answers)
    assert.ok(status === 200 || (status === 429 && body['code'] === 'rate_limited'), String(status))
  return answers.filter(({ status }) => status === 200).length
}

/** Until a process has noticed the others, it leases nothing. */
async function untilLeases(world: World, name: string): Promise<void> {
  const { organizationId, get } = await one.organization(name)
  await until('the process leases', async () => {
    await get('/v1/notifications', { at: world.url })
    const rows = await world.sql`select from rate_bucket where holder = ${organizationId}`
    return rows.length > 0
  })
}

test('[O-13] one process alone limits without the database', async () => {
  const organization = await one.organization('alone')
  await organization.token()
  const started = performance.now()
  const count = await admitted(organization, [one])
  const most = BURST + RATE * Math.ceil((performance.now() - started) / 1_000)
  assert.ok(count <= most && count >= BURST / 2, `${count} admitted, at most ${most}`)
  assert.equal((await one.sql`select from rate_bucket`).length, 0)
})

test('[O-13] a client that spreads its requests over processes gets one limit, exact within a slice per process', async () => {
  await using two = await startWorld({ beside: one, profile })
  await untilLeases(one, 'probe_of_one')
  await untilLeases(two, 'probe_of_two')
  const attacker = await one.organization('attacker')
  await attacker.token()
  const started = performance.now()
  const count = await admitted(attacker, [one, two])
  const seconds = (performance.now() - started) / 1_000
  const most = BURST + 2 * SLICE + RATE * Math.ceil(seconds)
  assert.ok(count <= most, `${count} admitted in ${seconds.toFixed(1)} s, at most ${most}`)
  // The registration of the agent and its keys has used some of the limit.
  assert.ok(count >= BURST / 2, `${count} admitted`)
})
