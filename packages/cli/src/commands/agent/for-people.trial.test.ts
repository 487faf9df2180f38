import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startWorld } from '@agent-exchange/testkit'
import { succeeds } from '../../aex-here.fixture.ts'
import { madeAgent, packageBetween, temporaryFolder } from './agents.fixture.ts'

const world = await startWorld()
const folder = temporaryFolder()
after(async () => {
  await world[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

/** What the command prints at a terminal. */
async function atTerminal(...args: string[]): Promise<string> {
  const { isTTY } = process.stdout
  process.stdout.isTTY = true
  try {
    return await succeeds(...args)
  } finally {
    process.stdout.isTTY = isTTY
  }
}

test('open and thread print for people on a terminal, and JSON elsewhere', async () => {
  const [seats, cars] = [folder.path('seats'), folder.path('cars')]
  await madeAgent(world, 'seats', seats)
  await madeAgent(world, 'cars', cars)
  const { packageId, threadId } = await packageBetween(seats, cars)

  const open = ['agent', 'open', packageId, '--dir', cars]
  const opened = await atTerminal(...open)
  assert.match(opened, /^\nReasoning package\n/u)
  assert.match(opened, new RegExp(`answer {3}.*aex agent respond ${packageId} FILE --dir ${cars}`, 'u'))
  assert.throws(() => JSON.parse(opened) as object)
  assert.equal(
    (JSON.parse(await succeeds(...open)) as { object_type: string }).object_type,
    'reasoning_package',
  )
  assert.ok(JSON.parse(await atTerminal(...open, '--json')))
  // Nobody answers its own package.
  assert.doesNotMatch(await atTerminal('agent', 'open', packageId, '--dir', seats), /respond/u)

  const thread = ['agent', 'thread', threadId, '--dir', seats]
  const story = await succeeds(...thread, '--story')
  assert.match(story, /\nWHERE IT STANDS\n/u)
  assert.match(story, /\nCONVERSATION, NEWEST FIRST\n  - #1 .* org_seats to org_cars: reasoning\n/u)
  const parsed = JSON.parse(await succeeds(...thread, '--story', '--json')) as { thread_id: string }
  assert.equal(parsed.thread_id, threadId)
  const shown = await atTerminal(...thread)
  assert.match(shown, new RegExp(`^Thread ${threadId}, native`, 'u'))
  assert.match(
    shown,
    /\n1\. Package, opened\n   from  agent_seats of org_seats\n   to    agent_cars of org_cars\n/u,
  )
  assert.match(shown, new RegExp(`open one  .*aex agent open ${packageId}`, 'u'))
  for (const printed of [await succeeds(...thread), await atTerminal(...thread, '--json')]) {
    const { packages } = JSON.parse(printed) as { packages: { package_id: string; state: string }[] }
    assert.deepEqual(
      packages.map(({ state }) => state),
      ['opened'],
    )
  }
})
