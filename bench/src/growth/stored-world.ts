import { freshId, type Organization } from '@agent-exchange/testkit'
import type { Exchange } from '../exchange/exchange.ts'
import { CLIENTS } from '../exchange/market.ts'
import { makeOrganizations, toParty, tokensFor } from '../exchange/parties.ts'
import { startLoad } from '../load/load.ts'

const SENDERS = 32
const RECEIVERS = 200
const DEEP_THREAD = 10_000
/** Only downloads read content, and a million packages of 12 KB would take 12 GB more. */
const PLAINTEXT_BYTES = 200
/** Packages that are made before they are sent. */
const STEP = 5_000
const ACCEPTED = 202
const STEP_LIMIT_MS = 600_000
const KNOWN_PACKAGES = 1_000

/** An exchange with much data: many packages, a long stream, a long thread. */
export interface StoredWorld extends AsyncDisposable {
  readonly sender: Organization
  /** Receives every second package. */
  readonly busy: Organization
  /** The other party of the deep thread. */
  readonly partner: Organization
  readonly deepThread: string
  /** A package that the busy organization received. */
  anyPackage(): { readonly packageId: string; readonly threadId: string }
  /** Sends packages until this many are stored. */
  grow(to: number, progress: (done: number) => void): Promise<void>
}

export async function makeStoredWorld({ world, service }: Exchange): Promise<StoredWorld> {
  const senders = await makeOrganizations(world, 'growth_sender', SENDERS)
  const receivers = await makeOrganizations(world, 'growth_receiver', RECEIVERS)
  const [sender] = senders
  const [busy, partner] = receivers
  if (!sender || !busy || !partner) throw new Error('nobody to trade')
  const load = startLoad()
  const tokens = tokensFor(senders, service)
  const deepThread = freshId('thread')
  const kind = { kind: 'packages', needsReceipts: true, plaintextBytes: PLAINTEXT_BYTES } as const
  await load.call('createStock', {
    ...kind,
    name: 'usual',
    senders: senders.map(toParty),
    // Pairs are formed in turns, so every second receiver is the busy one.
    receivers: receivers.slice(2).flatMap((other) => [toParty(busy), toParty(other)]),
  })
  await load.call('createStock', {
    ...kind,
    name: 'deep',
    senders: [toParty(sender)],
    receivers: [toParty(partner)],
    threadId: deepThread,
  })
  const send = async (stock: string, packages: number) => {
    const target = { url: service.url, tokens: await tokens.fresh() }
    await load.call('fill', stock, packages, target)
    await load.call('connect', target, CLIENTS)
    const source = { kind: 'stock', stock, most: packages } as const
    await load.call('run', { target, source, status: ACCEPTED, rampMs: 0, measureMs: STEP_LIMIT_MS })
  }
  const sendAll = async (stock: string, packages: number, progress: (done: number) => void) => {
    for (let done = 0; done < packages;) {
      const step = Math.min(STEP, packages - done)
      await send(stock, step)
      progress((done += step))
    }
  }
  await sendAll('deep', DEEP_THREAD, () => undefined)
  let stored = 0
  let known: readonly { packageId: string; threadId: string }[] = []
  return {
    sender,
    busy,
    partner,
    deepThread,
    anyPackage: () => known[Math.floor(Math.random() * known.length)] ?? { packageId: '', threadId: '' },
    async grow(to, progress) {
      await sendAll('usual', to - stored, (done) => progress(stored + done))
      stored = to
      known = await world.sql<{ packageId: string; threadId: string }[]>`
        select package_id as "packageId", thread_id as "threadId" from package
        where recipient_org_id = ${busy.organizationId} order by md5(package_id) limit ${KNOWN_PACKAGES}`
    },
    [Symbol.asyncDispose]: () => load[Symbol.asyncDispose](),
  }
}
