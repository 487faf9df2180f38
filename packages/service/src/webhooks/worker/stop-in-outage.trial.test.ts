import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deliveryWorld, startWorld } from '@agent-exchange/testkit'

/** Below the time after which supervisors kill a process that they told to stop. */
const STOP_LIMIT_MS = 30_000
const PROFILE = { 'O-44': { lost_attempt: 'at_once' as const } }

test('[EVT-08][O-44] a process that stops while results cannot be written ends, and another one sends again', async () => {
  await using made = await deliveryWorld({ config: { role: 'api' }, profile: PROFILE })
  const { world, receiver } = made
  const startWorker = () =>
    startWorld({
      beside: world,
      profile: PROFILE,
      config: { role: 'worker', webhook: { ca: receiver.authority.certificate, allowPrivate: true } },
    })
  await made.endpoint()
  const stopping = await startWorker()
  // As a server that shuts down, but only for results.
  await world.sql.unsafe(`
    create function refuse_results() returns trigger language plpgsql as
      $$ begin raise exception 'shutting down' using errcode = '57P03'; end $$;
    create trigger refuses before update on delivery
      for each row when (new.state = 'delivered') execute function refuse_results()`)
  const answered = Promise.withResolvers<void>()
  receiver.reply = () => {
    answered.resolve()
    return 204
  }
  await made.event()
  await answered.promise
  const started = performance.now()
  await stopping[Symbol.asyncDispose]()
  assert.ok(performance.now() - started < STOP_LIMIT_MS)
  const left = stopping.logged.filter((line) => line.includes('stopped without writing delivery results'))
  assert.deepEqual(
    left.map((line) => (JSON.parse(line) as { results?: number }).results),
    [1],
  )
  await world.sql`drop trigger refuses on delivery`
  await using running = new AsyncDisposableStack()
  running.use(await startWorker())
  const [delivery] = await made.until(([first]) => first?.state === 'delivered', 'delivered')
  assert.deepEqual(
    delivery?.attempts.map(({ outcome }) => outcome),
    ['retry', 'delivered'],
  )
  assert.equal(receiver.received.length, 2)
})
