import { sendPackage } from '@agent-exchange/testkit'
import type { TestBed } from '../exchange/test-bed.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { makeOrganizations } from '../exchange/parties.ts'
import { open, type DatabaseTarget } from '../exchange/postgres-server.ts'
import { startHelper, type Helper } from '../processes/calls.ts'
import { makeNaiveDatabase } from '../reference/naive-database.ts'
import { eventMaker, readTemplates, type EventTemplate } from '../rows/event-rows.ts'
import { registerEndpoints } from './endpoints.ts'
import type { OneByOneCalls } from './one-by-one-main.ts'
import type { ReceiverCalls } from './receiver-main.ts'
import { startReceiver } from './receiver.ts'

const OWNERS = 10
const ENDPOINTS_PER_OWNER = 20
const ENDPOINTS = OWNERS * ENDPOINTS_PER_OWNER
/** Every tenth endpoint has a path of this kind. */
export const HANGING_PATH = '/hang'
const HANGING_SHARE = 0.1

/** An exchange with 200 endpoints at 200 addresses, their receiver, and the sequential sender. */
export interface DeliveryScene {
  readonly exchange: Exchange
  readonly receiver: Helper<ReceiverCalls>
  readonly oneByOne: Helper<OneByOneCalls>
  readonly naiveDatabase: DatabaseTarget
  readonly templates: readonly EventTemplate[]
  readonly nextEvent: ReturnType<typeof eventMaker>
  readonly settings: Readonly<Record<string, string>>
}

export async function makeDeliveryScene(bed: TestBed, cleanup: AsyncDisposableStack): Promise<DeliveryScene> {
  const { process: receiver, origins, settings, caFile } = await startReceiver(bed, cleanup, ENDPOINTS)
  const exchange = cleanup.use(
    await bed.exchange('delivery', { ...settings, AEX_ROLE: 'api', AEX_WORKERS: '1' }),
  )
  const owners = await makeOrganizations(exchange.world, 'owner', OWNERS)
  await Promise.all(
    owners.map((owner, i) => {
      const own = origins.slice(i * ENDPOINTS_PER_OWNER, (i + 1) * ENDPOINTS_PER_OWNER)
      return registerEndpoints(owner, own.map(urlOf))
    }),
  )
  const sender = await exchange.world.organization('sender')
  // No worker runs yet, so these rows are unchanged.
  for (const owner of owners) await sendPackage(sender, owner)
  await using db = open(exchange.database)
  const templates = await readTemplates(
    db,
    owners.map(({ organizationId }) => organizationId),
  )
  const naiveDatabase = await makeNaiveDatabase(bed, exchange)
  const oneByOne = cleanup.use(
    startHelper<OneByOneCalls>(new URL('one-by-one-main.ts', import.meta.url), {
      NODE_EXTRA_CA_CERTS: caFile,
    }),
  )
  await oneByOne.call('open', naiveDatabase)
  return {
    exchange,
    receiver,
    oneByOne,
    naiveDatabase,
    templates,
    nextEvent: eventMaker(templates),
    settings: { ...settings, AEX_ROLE: 'worker', AEX_WORKERS: '1' },
  }
}

function urlOf(origin: string, index: number): string {
  return `${origin}${(index * HANGING_SHARE) % 1 === 0 ? HANGING_PATH : '/hook'}`
}
