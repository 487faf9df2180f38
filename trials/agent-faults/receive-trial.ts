import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { startWorld, until } from '@agent-exchange/testkit'
import { openFileKeyStore } from '../../packages/sdk/src/node/file-key-store.ts'
import { directoryOf, testKey, URL_OF_AGENT } from '../../packages/sdk/src/receive/delivery.fixture.ts'
import { startStream } from '../../packages/sdk/src/receive/stream.fixture.ts'
import { besiege, spawnAgent, statusOf, type Life } from './agent-lives.ts'
import type { Death } from './die-before.ts'
import type { AgentTask } from './receive-agent.ts'

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
    const agent = await spawnAgent('receive-agent.ts', folder, {
      ...task,
      ...(at !== undefined && { dieAt: at }),
    })
    if (at === undefined) setTimeout(() => agent.process.kill('SIGKILL'), Math.random() * LONGEST_LIFE_MS)
    const taken = await besiege(agent, stream.agent.connection, key)
    const signal = await agent.ended
    assert.ok(signal === 'SIGKILL', `life ${life}: ended by ${signal}`)
    assertStored(task.inboxFile, taken)
    kept += taken.size
    if (life % 20 === 19) line(`${life + 1} of ${lives.length} lives; ${kept} answers of 204, all kept`)
  }
  const total = lives.length * EVENTS_A_LIFE
  const last = await spawnAgent('receive-agent.ts', folder, task)
  await until('rest', async () => isAtRest(last, total), { limitMs: REST_MS })
  last.process.kill('SIGTERM')
  assert.equal(await last.ended, 0)
  assertEffects(task.inboxFile, total)
  line(
    `${lives.length} times killed: ${total} events, each with one effect, in order; ${kept} answers of 204 kept`,
  )
}

async function isAtRest(agent: Life, total: number): Promise<boolean> {
  const { pending, lastContiguousSequence } = await statusOf(agent)
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
