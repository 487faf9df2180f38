import { join } from 'node:path'
import { freePorts, until } from '@agent-exchange/testkit'
import { startProgram, type ChildProgram } from './child-program.ts'

const MEMBERS = 3
const READY_LIMIT_MS = 60_000
const ANSWER_LIMIT_MS = 2_000
/** Longer than the defaults, because all nodes share the cores and the disk of one machine. */
const TIMING = ['--heartbeat-interval=200', '--election-timeout=2000']

interface Member {
  readonly program: ChildProgram
  readonly port: number
}

/** Three members on loopback. */
export interface EtcdCluster {
  readonly hosts: readonly string[]
  /** Undefined while there is none. */
  leader(): Promise<ChildProgram | undefined>
  tails(): string[]
}

export async function startEtcd(
  program: string,
  folder: string,
  cleanup: AsyncDisposableStack,
): Promise<EtcdCluster> {
  const ports = await freePorts(2 * MEMBERS)
  const members = Array.from({ length: MEMBERS }, (_, number) => ({
    name: `etcd${number + 1}`,
    port: ports[number] ?? 0,
    peer: `http://127.0.0.1:${ports[MEMBERS + number]}`,
  }))
  const initial = members.map(({ name, peer }) => `${name}=${peer}`).join(',')
  const started = members.map(({ name, port, peer }): Member => {
    const client = `http://127.0.0.1:${port}`
    const args = [
      `--name=${name}`,
      `--data-dir=${join(folder, name)}`,
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=${initial}`,
      '--initial-cluster-state=new',
      ...TIMING,
    ]
    // Version 3.4 demands this on arm64.
    const env = process.arch === 'arm64' ? { ETCD_UNSUPPORTED_ARCH: 'arm64' } : {}
    const logFile = join(folder, `${name}.log`)
    return { port, program: cleanup.use(startProgram({ name, program, args, env, logFile })) }
  })
  const cluster: EtcdCluster = {
    hosts: started.map(({ port }) => `127.0.0.1:${port}`),
    leader: () => leaderOf(started),
    tails: () => started.map((member) => member.program.tail()),
  }
  await until('etcd has a leader', () => cluster.leader(), { limitMs: READY_LIMIT_MS, pollMs: 200 })
  return cluster
}

/** The member that names itself as the leader. */
async function leaderOf(members: readonly Member[]): Promise<ChildProgram | undefined> {
  for (const { program, port } of members) {
    if (!program.isRunning()) continue
    const status = await statusOf(port)
    if (status && status.leader === status.header.member_id) return program
  }
  return undefined
}

interface Status {
  readonly leader?: string
  readonly header: { readonly member_id: string }
}

/** From etcd's JSON gateway. Undefined: the member does not answer. */
async function statusOf(port: number): Promise<Status | undefined> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/v3/maintenance/status`, {
      method: 'POST',
      body: '{}',
      signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
    })
    return answer.ok ? ((await answer.json()) as Status) : undefined
  } catch {
    return undefined
  }
}
