import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allDelivered, deliveryWorld } from '@agent-exchange/testkit'

test('[EVT-08] a result is written again if the database shuts down while it is written, and nothing is sent twice', async () => {
  await using made = await deliveryWorld()
  const { world, receiver } = made
  await made.endpoint()
  await made.event()
  await made.until(allDelivered, 'delivered')
  // The server ends the session as it does at a failover (57P01), but only the first time.
  await world.sql.unsafe(`
    create sequence shutdowns;
    create function end_session() returns trigger language plpgsql as
      $$ begin
        if nextval('shutdowns') = 1 then perform pg_terminate_backend(pg_backend_pid()), pg_sleep(5); end if;
        return new;
      end $$;
    create trigger ends before update on delivery
      for each row when (new.state = 'delivered') execute function end_session()`)
  await made.event()
  const deliveries = await made.until((all) => all.length === 2 && allDelivered(all), 'delivered')
  assert.deepEqual(
    deliveries.map(({ attempts }) => attempts.map(({ outcome }) => outcome)),
    [['delivered'], ['delivered']],
  )
  assert.equal(receiver.received.length, 2)
  const [row] = await world.sql<
    { shutdowns: number }[]
  >`select last_value::integer as shutdowns from shutdowns`
  assert.ok((row?.shutdowns ?? 0) > 1)
})
