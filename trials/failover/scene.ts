import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startReceiver, type Organization, type WebhookReceiver } from '@agent-exchange/testkit'
import { startExchange, type Exchange } from '../shared/exchange.ts'
import { watchCheckpoints, type CheckpointWatch } from './checkpoint-watch.ts'
import { startClientsAt, type RunningClients } from './clients.ts'
import type { Cluster } from './cluster.ts'

const SENDERS = 4
const RECEIVERS = 4
const SHOWN_LINES = 10
/** So that faults hit the signing of many checkpoints. */
const FREQUENT_CHECKPOINTS = {
  transparency_checkpoint_milliseconds: 500,
  transparency_sequence_milliseconds: 100,
}

/** Two API processes, one worker, and clients that send packages. */
export interface Scene extends AsyncDisposable {
  /** The API process whose addresses name all hosts. */
  readonly exchange: Exchange
  readonly parties: readonly Organization[]
  /** Those that have a webhook endpoint. */
  readonly receiving: readonly Organization[]
  readonly receiver: WebhookReceiver
  readonly clients: RunningClients
  readonly checkpoints: CheckpointWatch
  /** The last log lines of the processes of the exchange. */
  logged(): string
}

/** One API process connects to all hosts, the other one and the worker through PgBouncer. */
export async function startScene({ urls }: Cluster): Promise<Scene> {
  const cleanup = new AsyncDisposableStack()
  await using undo = cleanup
  const receiver = cleanup.use(await startReceiver())
  const folder = mkdtempSync(join(tmpdir(), 'aex-failover-scene-'))
  cleanup.defer(() => rmSync(folder, { recursive: true }))
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const common = {
    AEX_WEBHOOK_CA: file('ca.pem', receiver.authority.certificate),
    AEX_WEBHOOK_ALLOW_PRIVATE: 'true',
    AEX_PROFILE: file('profile.json', JSON.stringify({ 'O-07': FREQUENT_CHECKPOINTS })),
    AEX_LOG_LEVEL: 'warn',
  }
  const pooled = ({ hosts, pooled: url }: { hosts: string; pooled: string }) => ({
    ...common,
    DATABASE_URL: url,
    AEX_DATABASE_DIRECT_URL: hosts,
  })
  const exchange = cleanup.use(
    await startExchange({ databaseUrl: urls.api.hosts, env: { ...common, AEX_ROLE: 'api' } }),
  )
  const beside = async (env: Readonly<Record<string, string>>) =>
    cleanup.use(await startExchange({ beside: exchange, env }))
  const second = await beside({ ...pooled(urls.api), AEX_ROLE: 'api' })
  const worker = await beside({ ...pooled(urls.worker), AEX_ROLE: 'worker' })

  const make = (kind: string, count: number) =>
    Promise.all(Array.from({ length: count }, (_, number) => exchange.organization(`${kind}${number}`)))
  const [senders, receiving] = [await make('sender', SENDERS), await make('receiver', RECEIVERS)]
  for (const organization of receiving) {
    const answer = await organization.post('/v1/webhook-endpoints', { url: receiver.url, event_types: [] })
    assert.equal(answer.status, 201, answer.text)
  }
  const pairs = senders.flatMap((from) => receiving.map((to) => [from, to] as const))
  const apis = [exchange.url, second.url]
  const [reader] = senders
  assert.ok(reader)
  const checkpoints = watchCheckpoints(reader, apis)
  const clients = startClientsAt(apis, pairs)
  const release = undo.move()
  return {
    exchange,
    parties: [...senders, ...receiving],
    receiving,
    receiver,
    clients,
    checkpoints,
    logged: () =>
      [exchange, second, worker].flatMap((each) => each.current().logged.slice(-SHOWN_LINES)).join('\n'),
    [Symbol.asyncDispose]: () => release.disposeAsync(),
  }
}
