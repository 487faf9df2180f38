import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '@agent-exchange/testkit'
import type { Cluster } from './cluster.ts'
import type { PatroniNode } from './patroni-cluster.ts'

const FAILOVER = { limitMs: 90_000, pollMs: 200 }
/** As a supervisor such as systemd does. */
const RESTART_AFTER_MS = 4_000
/** Longer than it takes to notice that the server does not answer. */
const CUT_MS = 12_000
/** At first only answers are lost, so that the database commits what nobody hears of. */
const ANSWERS_CUT_MS = 500

/** A server that wakes up believes to be the primary, until a watchdog resets its machine. */
const AWAKE_MS = 4_000

/** Strikes, and repairs after the database works without the repair, or after a while. */
export type Fault = (cluster: Cluster) => Promise<void>

export const FAULTS: Readonly<Record<string, Fault>> = {
  'kill -9 of the primary': async (cluster) => {
    const node = await primaryOf(cluster)
    await node.kill()
    await untilAnotherLeads(cluster, node)
    node.start()
  },
  'SIGSTOP of the primary': async (cluster) => {
    const node = await primaryOf(cluster)
    node.freeze()
    await untilAnotherLeads(cluster, node)
    node.thawServer()
    await sleep(AWAKE_MS)
    await node.kill()
    node.start()
  },
  "kill -9 of etcd's leader": async ({ etcd }) => {
    const member = await etcd.leader()
    assert.ok(member, 'etcd has no leader')
    await member.kill()
    await sleep(RESTART_AFTER_MS)
    member.start()
    await until('etcd has a leader', () => etcd.leader(), FAILOVER)
  },
  'kill -9 of PgBouncer': async ({ pgbouncer: { program } }) => {
    await program.kill()
    await sleep(RESTART_AFTER_MS)
    program.start()
  },
  'cut between the API processes and the database': async ({ proxies }) => {
    for (const proxy of proxies) proxy.cutAnswers()
    await sleep(ANSWERS_CUT_MS)
    for (const proxy of proxies) proxy.cut()
    await sleep(CUT_MS)
    for (const proxy of proxies) proxy.mend()
  },
}

async function primaryOf({ patroni }: Cluster): Promise<PatroniNode> {
  const node = await patroni.leader()
  assert.ok(node, 'the database has no primary')
  return node
}

async function untilAnotherLeads({ patroni }: Cluster, previous: PatroniNode): Promise<void> {
  await until(
    'another node is the primary',
    async () => {
      const leader = await patroni.leader()
      return leader !== undefined && leader !== previous
    },
    FAILOVER,
  )
}
