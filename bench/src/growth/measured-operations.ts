import { OPERATION_IDS, type OperationId } from '@agent-exchange/protocol'
import { draftPackage, setScene, type Answer, type Organization, type World } from '@agent-exchange/testkit'
import { median } from '../statistics.ts'
import type { StoredWorld } from './stored-world.ts'

const SAMPLES = 30
/** An organization has at most 20 endpoints. */
const FEW_SAMPLES = 12
const PAGE = 100
const LARGE_PAGE = 1_000
const PAGES_INTO_STREAM = 20
const PAGES_INTO_THREAD = 50

/** Prepares a request before the clock starts, and returns a function that sends it. */
type Prepare = () => Promise<() => Promise<Pick<Answer, 'status' | 'text'>>>

/** Median latency of each operation, in milliseconds, one request at a time. */
export async function measureOperations(
  world: World,
  stored: StoredWorld,
  progress: (what: string) => void,
): Promise<Map<string, number>> {
  const latencies = new Map<string, number>()
  for (const [name, prepare, samples] of [
    ...(await everyOperation(world)),
    ...(await bigOnes(stored)),
    ...operatorReads(world, stored),
  ]) {
    progress(name)
    const times: number[] = []
    for (let i = 0; i < samples; i++) {
      const send = await prepare()
      const from = performance.now()
      const answer = await send()
      times.push(performance.now() - from)
      if (answer.status >= 300) throw new Error(`${name}: ${answer.text}`)
    }
    latencies.set(name, median(times))
  }
  return latencies
}

type Measured = readonly [name: string, prepare: Prepare, samples: number]

/** All 21 operations between two new organizations. */
async function everyOperation(world: World): Promise<Measured[]> {
  const scene = await setScene(world)
  const prepare = (id: OperationId) => async () => {
    const request = await scene.make(id)
    return () => request.send()
  }
  return OPERATION_IDS.map((id) => [id, prepare(id), id === 'createWebhookEndpoint' ? FEW_SAMPLES : SAMPLES])
}

/** The same operations on large data. */
async function bigOnes(stored: StoredWorld): Promise<Measured[]> {
  const { sender, busy, partner, deepThread } = stored
  const thread = `/v1/threads/${deepThread}?limit=${PAGE}`
  const evidence = `/v1/audit/threads/${deepThread}?limit=${PAGE}`
  const [inThread, inEvidence, inStream] = [
    await cursorAfter(sender, thread, PAGES_INTO_THREAD),
    await cursorAfter(sender, evidence, PAGES_INTO_THREAD),
    await cursorAfter(busy, `/v1/notifications?limit=${LARGE_PAGE}`, PAGES_INTO_STREAM),
  ]
  const send = (to: Organization, threadId?: string): Prepare => {
    return async () => {
      const draft = await draftPackage(sender, to, threadId === undefined ? {} : { threadId })
      const receipt = await sender.post('/v1/policy-receipts', draft.receipt)
      if (receipt.status !== 201) throw new Error(receipt.text)
      return () => sender.post('/v1/packages', draft.body)
    }
  }
  const any = () => stored.anyPackage()
  const measured: [string, Prepare][] = [
    ['getPackage, any of all', read(busy, () => `/v1/packages/${any().packageId}`)],
    ['getThread, any of all', read(busy, () => `/v1/threads/${any().threadId}`)],
    ['getPackageAuditEvidence, any of all', read(busy, () => `/v1/audit/packages/${any().packageId}`)],
    ['getThread of 10,000, first 100', read(sender, () => thread)],
    ['getThread of 10,000, 100 in the middle', read(sender, () => `${thread}&after=${inThread}`)],
    ['getThreadAuditEvidence of 10,000, first 100', read(sender, () => evidence)],
    ['getThreadAuditEvidence of 10,000, 100 later', read(sender, () => `${evidence}&after=${inEvidence}`)],
    ['listNotifications, long stream, first 100', read(busy, () => `/v1/notifications?limit=${PAGE}`)],
    [
      'listNotifications, long stream, 100 later',
      read(busy, () => `/v1/notifications?limit=${PAGE}&after=${inStream}`),
    ],
    ['createPackageTransfer to the long stream', send(busy)],
    ['createPackageTransfer into the thread of 10,000', send(partner, deepThread)],
  ]
  return measured.map(([name, prepare]) => [name, prepare, SAMPLES])
}

/** What the pages of the operator's console read. */
function operatorReads(world: World, stored: StoredWorld): Measured[] {
  const { busy, deepThread } = stored
  const any = () => stored.anyPackage()
  const paths: Readonly<Record<string, () => string>> = {
    'operator: search by package id': () => `/search?id=${any().packageId}`,
    'operator: search for nothing': () => '/search?id=nothing',
    'operator: packages, newest': () => `/packages?limit=${PAGE}`,
    'operator: packages of the long stream': () =>
      `/packages?limit=${PAGE}&organization_id=${busy.organizationId}`,
    'operator: packages in a rare state': () => `/packages?limit=${PAGE}&state=revoked`,
    'operator: timeline of any package': () => `/packages/${any().packageId}`,
    'operator: timeline of the thread of 10,000': () => `/threads/${deepThread}`,
    'operator: deliveries, newest': () => `/deliveries?limit=${PAGE}`,
    'operator: failed deliveries': () => `/deliveries?limit=${PAGE}&state=failed`,
    'operator: preview of replays': () => '/replays',
    'operator: endpoints': () => `/endpoints?limit=${PAGE}`,
  }
  return Object.entries(paths).map(([name, path]) => [
    name,
    async () => {
      const at = path()
      return async () => {
        const { status, body } = await world.operate('GET', at)
        return { status, text: JSON.stringify(body) }
      }
    },
    SAMPLES,
  ])
}

function read(by: Organization, path: () => string): Prepare {
  return async () => {
    const at = path()
    return () => by.get(at)
  }
}

/** Reads up to this many pages and returns the cursor. */
async function cursorAfter(by: Organization, path: string, pages: number): Promise<string> {
  let cursor = ''
  for (let page = 0; page < pages; page++) {
    const answer = await by.get(cursor === '' ? path : `${path}&after=${cursor}`)
    if (answer.status !== 200) throw new Error(answer.text)
    const { next_cursor, has_more } = answer.body
    if (typeof next_cursor === 'string') cursor = encodeURIComponent(next_cursor)
    if (has_more !== true) break
  }
  return cursor
}
