import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePorts, until } from '@agent-exchange/testkit'
import { processesIn, signal } from '../../packages/database/src/embedded/processes.ts'
import { ownedFolder } from './owned-folder.ts'
import { startProgram, type ChildProgram } from './child-program.ts'
import { patroniConfig } from './patroni-config.ts'
import type { Programs } from './programs.ts'

const NODES = 3
const BOOTSTRAP_LIMIT_MS = 120_000
const HEALTHY_LIMIT_MS = 120_000
const ANSWER_LIMIT_MS = 2_000
const RUNNING = new Set(['running', 'streaming'])

/** One database server with its Patroni: together they are a machine. */
export interface PatroniNode {
  readonly name: string
  readonly port: number
  readonly restPort: number
  /** kill -9 of everything on the machine. */
  kill(): Promise<void>
  freeze(): void
  /** The server continues where it was, and Patroni does not. */
  thawServer(): void
  start(): void
  tail(): string
}

interface Member {
  readonly name: string
  readonly role: string
  readonly state: string
}

export interface PatroniCluster {
  readonly nodes: readonly PatroniNode[]
  /** The node that holds the leader lock, as a living node sees it. */
  leader(): Promise<PatroniNode | undefined>
  /** Waits until all nodes run and one of the standbys is synchronous. */
  untilHealthy(): Promise<unknown>
}

export async function startPatroni(
  programs: Programs,
  etcdHosts: readonly string[],
  folder: string,
  cleanup: AsyncDisposableStack,
): Promise<PatroniCluster> {
  const ports = await freePorts(2 * NODES)
  const nodes: PatroniNode[] = []
  const isLedBy = (name: string) => async () => (await membersOf(nodes)).some((each) => isLeader(each, name))
  for (let number = 0; number < NODES; number++) {
    const name = `node${number + 1}`
    const [port = 0, restPort = 0] = [ports[number], ports[NODES + number]]
    nodes.push(startNode({ name, port, restPort, programs, etcdHosts, folder }, cleanup))
    // The others copy the data of the first one.
    if (number === 0)
      await until('the first node is the primary', isLedBy(name), {
        limitMs: BOOTSTRAP_LIMIT_MS,
        pollMs: 200,
      })
  }
  const cluster: PatroniCluster = {
    nodes,
    async leader() {
      const leader = (await membersOf(nodes)).find((member) => isLeader(member, member.name))
      return nodes.find(({ name }) => name === leader?.name)
    },
    untilHealthy: () =>
      until(
        'three nodes run, one of them as synchronous standby',
        async () => isHealthy(await membersOf(nodes)),
        { limitMs: HEALTHY_LIMIT_MS, pollMs: 200 },
      ),
  }
  await cluster.untilHealthy()
  return cluster
}

const isLeader = ({ name, role, state }: Member, wanted: string) =>
  name === wanted && role === 'leader' && RUNNING.has(state)

function isHealthy(members: readonly Member[]): boolean {
  const roles = members.filter(({ state }) => RUNNING.has(state)).map(({ role }) => role)
  return roles.length === NODES && roles.includes('leader') && roles.includes('sync_standby')
}

/** From the first node that answers. */
async function membersOf(nodes: readonly PatroniNode[]): Promise<readonly Member[]> {
  const asked = nodes.map(async ({ restPort }) => {
    const answer = await fetch(`http://127.0.0.1:${restPort}/cluster`, {
      signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
    })
    return ((await answer.json()) as { members: Member[] }).members
  })
  return Promise.any(asked).catch(() => [])
}

interface NodeSettings {
  readonly name: string
  readonly port: number
  readonly restPort: number
  readonly programs: Programs
  readonly etcdHosts: readonly string[]
  readonly folder: string
}

function startNode(settings: NodeSettings, cleanup: AsyncDisposableStack): PatroniNode {
  const { name, programs, folder } = settings
  const home = ownedFolder(join(folder, name))
  const data = join(home, 'data')
  const file = join(home, 'patroni.json')
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(patroniConfig({ ...settings, home, data })))
  const toPostgres = (which: NodeJS.Signals) => processesIn(data).forEach((pid) => signal(pid, which))
  // Disposed after Patroni, which would start PostgreSQL again.
  cleanup.defer(() => toPostgres('SIGKILL'))
  const patroni: ChildProgram = cleanup.use(
    startProgram({ name, program: programs.patroni, args: [file], logFile: join(folder, `${name}.log`) }),
  )
  process.once('exit', () => toPostgres('SIGKILL'))
  return {
    ...settings,
    async kill() {
      const ended = patroni.kill()
      toPostgres('SIGKILL')
      await ended
      // Patroni may have started a server in the meantime.
      toPostgres('SIGKILL')
    },
    freeze() {
      patroni.signal('SIGSTOP')
      toPostgres('SIGSTOP')
    },
    thawServer: () => toPostgres('SIGCONT'),
    start: patroni.start,
    tail: patroni.tail,
  }
}
