import { setTimeout as sleep } from 'node:timers/promises'
import type { World } from '@agent-exchange/testkit'
import type { TestAgent } from '../agents.fixture.ts'

const TRIES = 100

/**
 * Sends a package whose delivery to an endpoint of the owner fails, and replays it: an entry that only the owner may see.
 * Returns the id of the package.
 */
export async function replayDelivery(
  world: World,
  owner: TestAgent,
  send: () => Promise<string>,
): Promise<string> {
  const endpoint = await owner.connection.call('createWebhookEndpoint', {
    body: { url: 'https://receiver.example/hook', event_types: ['package.accepted'] },
  })
  const packageId = await send()
  for (let tries = 0; tries < TRIES; tries++) {
    const [delivery] = await world.sql<{ delivery_id: string }[]>`
      update delivery set state = 'dead', attempt = 7, finished_at = ${world.clock.now()}
      where webhook_endpoint_id = ${endpoint.webhook_endpoint_id} and package_id = ${packageId}
      returning delivery_id`
    const { status } = await world.operate('POST', `/deliveries/${delivery?.delivery_id}/replay`, {
      reason: 'the receiver was repaired',
    })
    if (status === 201) return packageId
    // A worker had claimed the delivery, and has changed its state since.
    await sleep(20)
  }
  throw new Error('the delivery was not replayed')
}
