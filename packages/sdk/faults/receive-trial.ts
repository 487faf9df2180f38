import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { NotificationEnvelope } from '@agent-exchange/protocol'
import { startWorld } from '@agent-exchange/testkit'
import { openFileKeyStore } from '../src/node/file-key-store.ts'
import {
  directoryOf,
  signedDelivery,
  testKey,
  URL_OF_AGENT,
  type TestKey,
} from '../src/receive/delivery.fixture.ts'
import { startStream, until, type Stream } from '../src/receive/stream.fixture.ts'
import type { AgentTask, Death } from './receive-agent.ts'

export interface TrialOptions {
  /** Where the agent ends itself, one life each. */
  readonly dieAt: readonly Death[]
  /** Lives that end at a moment of chance. */
  readonly randomLives: number
  readonly line: (text: string) => void
}

const EVENTS_A_LIFE = 2
const LONGEST_LIFE_MS = 400
const REST_MS = 30_000

/**
 * An agent that is killed with -9 at every step, while events reach it by webhook (in any order, some twice, some
 * never) and by polling. In the end every event had its effect once, in the order of the stream; and whatever was
 * answered with 204 was on disk when the agent died.
 */
export async function receiveTrial({ dieAt, randomLives, line }: TrialOptions): Promise<void> {
  await using cleanup = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'aex-receive-'))
  cleanup.defer(() => rmSync(folder, { recursive: true }))
  const world = cleanup.use(await startWorld())
  const keyFile = join(folder, 'keys.json')
  const stream = await startStream(world, 'killed', { keys: openFileKeyStore(keyFile) })
  const key = await testKey('key_courier', { valid_until: '2090-01-01T00:00:00Z' })
  const { clientId, identity } = stream.agent
  const task: AgentTask = {
    baseUrl: world.url,
    clientId,
    identity,
    keyFile,
    inboxFile: join(folder, 'inbox.db'),
    directory: directoryOf([key]),
    publicUrl: URL_OF_AGENT,
  }
  const lives = [...dieAt, ...Array.from({ length: randomLives }, () => undefined)]
  let kept = 0
  for (const [life, at] of lives.entries()) {
    await stream.send(EVENTS_A_LIFE)
    const agent = await spawnAgent(folder, { ...task, ...(at !== undefined && { dieAt: at }) })
    if (at === undefined) setTimeout(() => agent.process.kill('SIGKILL'), Math.random() * LONGEST_LIFE_MS)
    const taken = await besiege(agent, stream, key)
    const signal = await agent.ended
    assert.ok(signal === 'SIGKILL', `life ${life}: ended by ${signal}`)
    assertStored(task.inboxFile, taken)
    kept += taken.size
    if (life % 20 === 19) line(`${life + 1} of ${lives.length} lives; ${kept} answers of 204, all kept`)
  }
  const total = lives.length * EVENTS_A_LIFE
  const last = await spawnAgent(folder, task)
  await until('rest', async () => isAtRest(last, total), REST_MS)
  last.process.kill('SIGTERM')
  assert.equal(await last.ended, 0)
  assertEffects(task.inboxFile, total)
  line(
    `${lives.length} times killed: ${total} events, each with one effect, in order; ${kept} answers of 204 kept`,
  )
}

interface Agent {
  readonly process: ChildProcess
  /** Undefined where it died before it could serve. */
  readonly port: number | undefined
  /** The signal or the exit code. */
  readonly ended: Promise<NodeJS.Signals | number | null>
}

async function spawnAgent(folder: string, task: AgentTask): Promise<Agent> {
  const file = join(folder, 'task.json')
  writeFileSync(file, JSON.stringify(task))
  const program = join(import.meta.dirname, 'receive-agent.ts')
  const child = spawn(process.execPath, ['-C', 'source', program, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit').then(
    ([code, signal]) => (signal ?? code) as NodeJS.Signals | number | null,
  )
  const port = await Promise.race([
    once(child.stdout, 'data').then(([data]) => Number(String(data))),
    ended.then(() => undefined),
  ])
  return { process: child, port, ended }
}

/** Delivers what the stream has until the agent is dead; returns the ids of what it answered with 204. */
async function besiege(agent: Agent, { agent: { connection } }: Stream, key: TestKey): Promise<Set<string>> {
  const taken = new Set<string>()
  const { port } = agent
  if (port === undefined) return taken
  const events = await wholeStream(connection)
  let isOver = false
  void agent.ended.then(() => (isOver = true))
  for (let tries = 0; !isOver && tries < 10_000; tries++) {
    const recent = events.slice(-3 * EVENTS_A_LIFE)
    const event = recent[Math.floor(Math.random() * recent.length)]
    if (!event) break
    const { headers, body } = await signedDelivery(key, event, { created: new Date() })
    const status: number | undefined = await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      headers,
      body,
    }).then(
      (response) => response.status,
      () => undefined,
    )
    if (status === 204) taken.add(event.event_id)
    else if (status !== undefined) assert.equal(status, 503)
    await sleep(Math.random() * 10)
  }
  return taken
}

async function wholeStream(connection: Stream['agent']['connection']): Promise<NotificationEnvelope[]> {
  const events: NotificationEnvelope[] = []
  let after: string | undefined
  for (let hasMore = true; hasMore;) {
    const page = await connection.call('listNotifications', { query: { after, limit: 1_000 } })
    events.push(...page.items)
    after = page.next_cursor
    hasMore = page.has_more
  }
  return events
}

async function isAtRest({ port }: Agent, total: number): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}/status`)
  const { pending, lastContiguousSequence } = (await response.json()) as Record<string, number>
  return pending === 0 && lastContiguousSequence === total
}

function assertStored(file: string, taken: ReadonlySet<string>): void {
  // It may have died before it made a table.
  if (taken.size === 0) return
  using database = new DatabaseSync(file)
  const find = database.prepare('select 1 from aex_event where event_id = ?')
  for (const eventId of taken) assert.ok(find.get(eventId), `${eventId} was answered with 204 and is gone`)
}

function assertEffects(file: string, total: number): void {
  using database = new DatabaseSync(file)
  const rows = database.prepare('select sequence from effect order by position').all()
  const expected = Array.from({ length: total }, (_, i) => i + 1)
  assert.deepEqual(
    rows.map(({ sequence }) => sequence),
    expected,
  )
  assert.equal(
    database.prepare("select count(*) as n from aex_event where state <> 'processed'").get()?.['n'],
    0,
  )
}
