import type { Database, Transaction } from '@agent-exchange/database'
import { ExchangeError, type PeerPins, type PinStore } from '@agent-exchange/sdk'
import { createSerially } from '@agent-exchange/sdk/internal'

/** Other instances may change the same pins between reading and writing. */
const MAXIMUM_TRIES = 20

interface PinRow {
  readonly pins: string
}

/**
 * The pinned keys of the peers of one agent. A change may ask the exchange, so no transaction is open meanwhile: it is
 * written only if nobody else changed the pins, and made again otherwise.
 */
export function openPostgresPinStore(db: Database, agentId: string): PinStore {
  const serially = createSerially()

  async function find(peerId: string): Promise<string | undefined> {
    const [row] = await db<PinRow[]>`
      select pins from agent_pin where agent_id = ${agentId} and peer_id = ${peerId}`
    return row?.pins
  }

  async function replace(peerId: string, before: string | undefined, after: string): Promise<boolean> {
    const { count } =
      before === undefined
        ? await db`
            insert into agent_pin (agent_id, peer_id, pins) values (${agentId}, ${peerId}, ${after})
            on conflict do nothing`
        : await db`
            update agent_pin set pins = ${after}
            where agent_id = ${agentId} and peer_id = ${peerId} and pins = ${before}`
    return count === 1
  }

  return {
    async read(peerId) {
      const found = await find(peerId)
      return found === undefined ? undefined : parse(found)
    },
    async list() {
      const rows = await db<PinRow[]>`select pins from agent_pin where agent_id = ${agentId} order by peer_id`
      return rows.map(({ pins }) => parse(pins))
    },
    update: (peerId, change) =>
      serially(peerId, async () => {
        for (let tries = 0; tries < MAXIMUM_TRIES; tries++) {
          const before = await find(peerId)
          const pins = await change(before === undefined ? undefined : parse(before))
          if (await replace(peerId, before, JSON.stringify(pins))) return pins
        }
        throw new ExchangeError('pin_store_unreadable', {
          what: `The pins of ${peerId} are changed by other processes all the time.`,
          retryable: true,
        })
      }),
  }
}

const parse = (text: string) => JSON.parse(text) as PeerPins

/** Pins of an agent that moves in. */
export async function insertPins(tx: Transaction, agentId: string, all: readonly PeerPins[]): Promise<void> {
  for (const pins of all)
    await tx`
      insert into agent_pin (agent_id, peer_id, pins) values (${agentId}, ${pins.agentId}, ${JSON.stringify(pins)})`
}
