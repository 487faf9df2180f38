import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { startWorld, until, type World } from '@agent-exchange/testkit'
import { startAgent } from '../../packages/sdk/src/agents.fixture.ts'
import { inputFor, policyFor, SKILL } from '../../packages/sdk/src/send/drafts.fixture.ts'
import { createMemoryOutbox } from '../../packages/sdk/src/outbox/memory-outbox.ts'
import { sendPackage } from '../../packages/sdk/src/send/send-package.ts'
import { openFileKeyStore } from '../../packages/sdk/src/node/file-key-store.ts'
import { directoryOf, testKey, URL_OF_AGENT } from '../../packages/sdk/src/receive/delivery.fixture.ts'
import { besiege, spawnAgent, statusOf, type Life } from './agent-lives.ts'
import type { PackageTask } from './package-agent.ts'
import type { TrialOptions } from './receive-trial.ts'

const LONGEST_LIFE_MS = 1_500
const REST_MS = 60_000
const PROGRAM = 'package-agent.ts'

/**
 * An agent that answers packages and is killed with -9 at every statement on its inbox and its outbox, while events
 * reach it in any order, some twice, some never. In the end every package was handled once, in order, has one answer at
 * the exchange, and its receipts.
 */
export async function packageTrial({ dieAt, randomLives, line }: TrialOptions): Promise<void> {
  await using cleanup = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'aex-packages-'))
  cleanup.defer(() => rmSync(folder, { recursive: true }))
  const world = cleanup.use(await startWorld())
  const keyFile = join(folder, 'keys.json')
  const asker = await startAgent(world, 'asker')
  const agent = await startAgent(world, 'killed', { keys: openFileKeyStore(keyFile) })
  const key = await testKey('key_courier', { valid_until: '2090-01-01T00:00:00Z' })
  const task: PackageTask = {
    baseUrl: world.url,
    clientId: agent.clientId,
    identity: agent.identity,
    keyFile,
    inboxFile: join(folder, 'inbox.db'),
    outboxFile: join(folder, 'outbox.db'),
    pinsFile: join(folder, 'pins.json'),
    directory: directoryOf([key]),
    publicUrl: URL_OF_AGENT,
    policy: policyFor(agent, asker),
    skill: SKILL,
  }
  const outbox = createMemoryOutbox()
  const sent: string[] = []
  const lives = [...dieAt, ...Array.from({ length: randomLives }, () => undefined)]
  for (const [life, at] of lives.entries()) {
    sent.push((await sendPackage(asker, inputFor(asker, agent), { outbox })).packageId)
    const running = await spawnAgent(PROGRAM, folder, { ...task, ...(at !== undefined && { dieAt: at }) })
    if (at === undefined) setTimeout(() => running.process.kill('SIGKILL'), Math.random() * LONGEST_LIFE_MS)
    await besiege(running, agent.connection, key)
    const signal = await running.ended
    assert.ok(signal === 'SIGKILL', `life ${life}: ended by ${signal}`)
    if (life % 20 === 19) line(`${life + 1} of ${lives.length} lives`)
  }
  const last = await spawnAgent(PROGRAM, folder, task)
  await until('rest', async () => (await isAtRest(last)) && effects(task).length >= sent.length, {
    limitMs: REST_MS,
  })
  last.process.kill('SIGTERM')
  assert.equal(await last.ended, 0)
  assert.deepEqual(effects(task), sent)
  for (const packageId of sent) {
    assert.equal(await answersTo(world, packageId), 1, `answers to ${packageId}`)
    assert.deepEqual(await receiptsOf(world, packageId), ['opened', 'received'], packageId)
  }
  line(`${lives.length} times killed: ${sent.length} packages, each handled and answered once, in order`)
}

async function isAtRest(life: Life): Promise<boolean> {
  const { pending, lastContiguousSequence, highestSequence } = await statusOf(life)
  return pending === 0 && lastContiguousSequence === highestSequence
}

function effects({ inboxFile }: PackageTask): unknown[] {
  using database = new DatabaseSync(inboxFile)
  return database
    .prepare('select package_id from effect order by position')
    .all()
    .map((row) => row['package_id'])
}

async function answersTo({ sql }: World, packageId: string): Promise<number> {
  const rows = await sql`select 1 from package where responds_to_package_id = ${packageId}`
  return rows.length
}

async function receiptsOf({ sql }: World, packageId: string): Promise<string[]> {
  const rows = await sql<{ state: string }[]>`
    select state from package_receipt where package_id = ${packageId} order by state`
  return rows.map(({ state }) => state)
}
