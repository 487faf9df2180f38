import { setTimeout as sleep } from 'node:timers/promises'
import type { Organization, World } from '@agent-exchange/testkit'

/** A log that tests do not have to wait for. */
export const QUICK_LOG = {
  'O-07': { transparency_checkpoint_milliseconds: 100, transparency_sequence_milliseconds: 20 },
}

type Status = Record<string, unknown>

/** The status of the log once it is as expected. */
export async function statusWhen(world: World, isThere: (status: Status) => boolean): Promise<Status> {
  let body: Status = {}
  for (let tries = 0; tries < 400; tries++) {
    ;({ body } = await world.operate('GET', '/transparency-log'))
    if (isThere(body)) return body
    await sleep(50)
  }
  throw new Error(`the log did not reach the expected state: ${JSON.stringify(body)}`)
}

/** Once every leaf is in a published checkpoint. */
export function publishedStatus(
  world: World,
  isThere: (status: Status) => boolean = () => true,
): Promise<Status> {
  return statusWhen(
    world,
    (status) =>
      status['state'] === 'running' &&
      status['pending_leaves'] === 0 &&
      status['published_size'] === status['size'] &&
      isThere(status),
  )
}

/** The listed items once all of them are proved. */
export async function provedItems(
  by: Organization,
  path: string,
  member: string,
): Promise<{ items: Record<string, unknown>[]; checkpoint: string }> {
  for (let tries = 0; tries < 400; tries++) {
    const { body } = await by.get(path)
    const items = (body[member] ?? []) as Record<string, unknown>[]
    if (items.length > 0 && items.every(({ pending }) => pending !== true))
      return { items, checkpoint: String(body['checkpoint']) }
    await sleep(50)
  }
  throw new Error(`${path} is still pending`)
}
