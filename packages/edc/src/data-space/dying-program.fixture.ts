import { operations } from '@agent-exchange/protocol'
import type { FetchOptions, Outbox, Progress } from '@agent-exchange/sdk'
import type { DataAddressHost } from '../data-address.ts'
import { through, type Company, type Space } from './data-space.fixture.ts'

/** Steps of a connector at which it did nothing that was not reported already. */
const SEEN = new Set<Progress['step']>([
  'data_stored',
  'offer_found',
  'negotiation_state',
  'transfer_state',
  'transfer_ready',
])

/** A program that stops for good at one of its effects, before or after it, as `kill -9` would stop it. */
export interface DyingProgram {
  readonly company: Company
  /** Resolves once it is dead, with what it was about to do or had just done. */
  readonly death: Promise<string>
  /** Every effect that it came to, in order. */
  readonly effects: readonly string[]
}

/**
 * A company's program that dies at its nth effect: a change at the exchange, in its outbox, at its data address or
 * its connector. What it had done stays done; whatever it wanted to do next never happens.
 */
export function dyingProgram(space: Space, company: Company, at: number): DyingProgram {
  const effects: string[] = []
  const { promise: death, resolve: die } = Promise.withResolvers<string>()
  const never = new Promise<never>(() => undefined)
  let isDead = false
  const moment = async (name: string): Promise<void> => {
    if (isDead) return never
    effects.push(name)
    if (effects.length <= at) return undefined
    isDead = true
    die(name)
    return never
  }
  const effect = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    await moment(`before ${name}`)
    const result = await work()
    await moment(`after ${name}`)
    return result
  }
  const { connection } = company.agent
  const call: typeof connection.call = (id, given) => {
    if (isDead) return never
    const send = () => connection.call(id, given)
    return operations[id].mutation ? effect(id, send) : send()
  }
  const agent = { ...company.agent, connection: { ...connection, call } }
  const { outbox } = company
  const dyingOutbox: Outbox = {
    ...outbox,
    add: (entry) => effect('outbox add', () => outbox.add(entry)),
    advance: (entry, change) => effect(`outbox ${change.state}`, () => outbox.advance(entry, change)),
  }
  const dataAddress: DataAddressHost = {
    put: (...given) => effect('data address put', () => company.dataAddress.put(...given)),
    withdraw: (...given) => effect('data address withdraw', () => company.dataAddress.withdraw(...given)),
  }
  const restarted = space.restart({ ...company, agent }, { dataAddress, outbox: dyingOutbox })
  const stopping = (options?: FetchOptions) => ({
    ...options,
    onProgress: ({ step }: Progress) => {
      if (isDead) throw new Error('dead')
      if (SEEN.has(step)) return
      effects.push(step)
      if (effects.length <= at) return
      isDead = true
      die(step)
      throw new Error('dead')
    },
  })
  const { connector } = restarted
  const dying = through(restarted, {
    publish: (request, options) => connector.publish(request, stopping(options)),
    acquire: (request, options) => connector.acquire(request, stopping(options)),
    fetch: (acquisition, options) => connector.fetch(acquisition, stopping(options)),
    finish: async (acquisition, options) => {
      if (isDead) return never
      return connector.finish(acquisition, stopping(options))
    },
    withdraw: (assetId, options) => connector.withdraw(assetId, stopping(options)),
  })
  return { company: dying, death, effects }
}
