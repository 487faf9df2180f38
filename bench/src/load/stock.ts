import { openAll, type Address, type Outgoing } from './connection.ts'
import { closedLoop, type Next } from './loops.ts'
import { packageMaker, type MadePackage, type PackageKind } from './package-maker.ts'

/** The target of requests, with a token for each sender. */
export interface Target extends Address {
  readonly tokens: readonly string[]
}

export interface StockOrder extends PackageKind {
  readonly name: string
  /** Whether policy receipts or packages are sent. */
  readonly kind: 'packages' | 'receipts'
  /** Policy receipts are sent when packages are made. Not needed by a server that does not check them. */
  readonly needsReceipts?: boolean
}

/** Requests that are made before the clock starts. */
export interface Stock {
  /** Creates the missing requests. The target is needed if policy receipts have to be sent. */
  fill(count: number, target?: Target): Promise<void>
  /** Each is sent once. */
  take(target: Target): Next
  /** For a stateless server: repeats the same requests. */
  cycle(target: Target): Next
}

/** Size of a group that is created while the policy receipts of the previous one are sent. */
const MADE_AT_ONCE = 500
const PACKAGES = '/v1/packages'
const RECEIPTS = '/v1/policy-receipts'
const CREATED = 201
const RECEIPT_CLIENTS = 32
const RECEIPT_LIMIT_MS = 60_000

export async function createStock({ kind, needsReceipts = false, ...parties }: StockOrder): Promise<Stock> {
  const make = await packageMaker(parties)
  const waiting: MadePackage[] = []
  const request = (target: Target, item: MadePackage | undefined): Outgoing | undefined =>
    item && (kind === 'packages' ? packageRequest(target, item) : receiptRequest(target, item))

  async function makeSome(count: number): Promise<MadePackage[]> {
    const made: MadePackage[] = []
    while (made.length < count) made.push(await make())
    return made
  }

  async function store(made: readonly MadePackage[], target: Target | undefined): Promise<void> {
    if (needsReceipts && made.length > 0) await sendReceipts(made, target)
    waiting.push(...made)
  }

  return {
    async fill(count, target) {
      let made: readonly MadePackage[] = []
      do {
        const missing = count - waiting.length - made.length
        ;[made] = await Promise.all([makeSome(Math.min(missing, MADE_AT_ONCE)), store(made, target)])
      } while (made.length > 0)
    },
    take: (target) => () => request(target, waiting.pop()),
    cycle(target) {
      let at = 0
      return () => request(target, waiting[at++ % waiting.length])
    },
  }
}

async function sendReceipts(packages: readonly MadePackage[], target: Target | undefined): Promise<void> {
  if (!target) throw new Error('policy receipts need an address and tokens')
  const waiting = packages.map((item) => receiptRequest(target, item))
  const connections = await openAll(target, RECEIPT_CLIENTS)
  try {
    const span = { rampMs: 0, measureMs: RECEIPT_LIMIT_MS, status: CREATED }
    const { requests } = await closedLoop(connections, () => waiting.pop(), span)
    if (requests < packages.length) throw new Error('policy receipts took too long')
  } finally {
    connections.forEach((connection) => connection.close())
  }
}

const packageRequest = (target: Target, { sender, body, metadata: { package_id: id } }: MadePackage) => ({
  ...post(target, { path: PACKAGES, sender, body, id }),
  packageId: id,
})

const receiptRequest = (target: Target, { sender, receipt, metadata: { package_id: id } }: MadePackage) =>
  post(target, { path: RECEIPTS, sender, body: receipt, id })

export interface Posted {
  readonly path: string
  /** The index of the sender, whose token is used. */
  readonly sender: number
  readonly body: Uint8Array
  /** Whether the body is already in the chunked encoding (RFC 9112 section 7.1). */
  readonly isChunked?: boolean
  /** Unique among the requests of the sender to this path. */
  readonly id: string
}

export function post({ url, tokens }: Target, { path, sender, body, isChunked, id }: Posted): Outgoing {
  const framing = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`
  const head =
    `POST ${path} HTTP/1.1\r\nHost: ${new URL(url).host}\r\nAuthorization: Bearer ${tokens[sender] ?? ''}\r\n` +
    `Content-Type: application/json\r\nX-Correlation-ID: corr_${id}\r\n` +
    `Idempotency-Key: idem_${id}\r\n${framing}\r\n\r\n`
  return { head, body }
}

export function get({ url, tokens }: Target, path: string, sender: number): Outgoing {
  const head =
    `GET ${path} HTTP/1.1\r\nHost: ${new URL(url).host}\r\nAuthorization: Bearer ${tokens[sender] ?? ''}\r\n` +
    'X-Correlation-ID: corr_bench\r\n\r\n'
  return { head }
}
