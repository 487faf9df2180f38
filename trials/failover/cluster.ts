import { mkdtempSync, chmodSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '@agent-exchange/database'
import { until } from '@agent-exchange/testkit'
import { startCutProxy, type CutProxy } from './cut-proxy.ts'
import { startEtcd, type EtcdCluster } from './etcd-cluster.ts'
import { ownedFolder } from './owned-folder.ts'
import { startPatroni, type PatroniCluster, type PatroniNode } from './patroni-cluster.ts'
import { startHaproxy, startPgbouncer, type RunningProgram } from './poolers.ts'
import type { Programs } from './programs.ts'

const DATABASE = 'agent_exchange'
const OWNER = 'agent_exchange'
const POOL_LIMIT_MS = 30_000

/** A replicated database with everything in front of it. */
export interface Cluster extends AsyncDisposable {
  readonly etcd: EtcdCluster
  readonly patroni: PatroniCluster
  readonly pgbouncer: RunningProgram
  /** Between the API processes and the database. */
  readonly proxies: readonly CutProxy[]
  readonly urls: ClusterUrls
  /** Makes another database, and returns its URL, which names all nodes. */
  createDatabase(name: string): Promise<string>
  /** The last output of all programs. */
  tails(): string
}

/** `hosts` names all nodes, `pooled` leads to PgBouncer. Those of the API processes lead through the cut proxies. */
export interface ClusterUrls {
  readonly api: { readonly hosts: string; readonly pooled: string }
  readonly worker: { readonly hosts: string; readonly pooled: string }
}

export async function startCluster(programs: Programs, line: (text: string) => void): Promise<Cluster> {
  const cleanup = new AsyncDisposableStack()
  await using undo = cleanup
  const folder = ownedFolder(mkdtempSync(join(tmpdir(), 'aex-failover-')))
  chmodSync(folder, 0o755)
  cleanup.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }))
  const etcd = await startEtcd(programs.etcd, folder, cleanup)
  line('etcd has three members and a leader')
  const patroni = await startPatroni(programs, etcd.hosts, folder, cleanup)
  await createOwner(patroni.nodes)
  await createDatabase(patroni.nodes, DATABASE)
  line('PostgreSQL has a primary, a synchronous standby and another standby')
  const haproxy = await startHaproxy(programs, patroni.nodes, folder, cleanup)
  const server = { serverPort: haproxy.port, database: DATABASE, user: OWNER }
  const pgbouncer = await startPgbouncer(programs, server, folder, cleanup)
  const ports = patroni.nodes.map(({ port }) => port)
  const proxies: CutProxy[] = []
  for (const port of [...ports, pgbouncer.port]) proxies.push(cleanup.use(await startCutProxy(port)))
  const proxied = proxies.map(({ port }) => port)
  const urls: ClusterUrls = {
    api: { hosts: addressOf(proxied.slice(0, -1)), pooled: addressOf(proxied.slice(-1)) },
    worker: { hosts: addressOf(ports), pooled: addressOf([pgbouncer.port]) },
  }
  await untilPooled(urls)
  line('PgBouncer leads to the primary through HAProxy')
  const release = undo.move()
  return {
    etcd,
    patroni,
    pgbouncer,
    proxies,
    urls,
    async createDatabase(name) {
      await createDatabase(patroni.nodes, name)
      return addressOf(ports, OWNER, name)
    },
    tails: () =>
      [
        ...etcd.tails(),
        ...patroni.nodes.map((node) => node.tail()),
        haproxy.program.tail(),
        pgbouncer.program.tail(),
      ].join('\n'),
    [Symbol.asyncDispose]: () => release.disposeAsync(),
  }
}

function addressOf(ports: readonly number[], user = OWNER, database = DATABASE): string {
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',')
  return `postgres://${user}@${hosts}/${database}?target_session_attrs=read-write`
}

const createOwner = (nodes: readonly PatroniNode[]) => administer(nodes, `create role ${OWNER} login`)

const createDatabase = (nodes: readonly PatroniNode[], name: string) =>
  administer(nodes, `create database ${name} owner ${OWNER}`)

async function administer(nodes: readonly PatroniNode[], statement: string): Promise<void> {
  const target = addressOf(
    nodes.map(({ port }) => port),
    'postgres',
    'postgres',
  )
  const db = openDatabase({ target, maximumConnections: 1, applicationName: 'failover' })
  try {
    await db.unsafe(statement)
  } finally {
    await db.end()
  }
}

/** HAProxy needs a moment to find the primary. */
async function untilPooled({ worker }: ClusterUrls): Promise<void> {
  const db = openDatabase({
    target: worker.pooled,
    directTarget: worker.hosts,
    maximumConnections: 1,
    applicationName: 'failover',
  })
  try {
    await until('PgBouncer leads to the primary', async () => (await db`select 1`).length === 1, {
      limitMs: POOL_LIMIT_MS,
      pollMs: 200,
    })
  } finally {
    await db.end()
  }
}
