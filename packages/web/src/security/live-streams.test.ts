import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, mock, test, type TestContext } from 'node:test'
import { createLiveStreams, fingerprint, type LiveStreamsOptions } from './live-streams.ts'

const POLL_MS = 1_000

beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'setInterval'] }))
afterEach(() => mock.timers.reset())

/** Live streams under a clock that the test moves. */
function liveStreams(t: TestContext, options: Partial<LiveStreamsOptions> = {}) {
  const failures: unknown[] = []
  const live = createLiveStreams({
    onFailure: (error) => failures.push(error),
    pollMs: POLL_MS,
    maximumStreams: 3,
    ...options,
  })
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  t.after(async () => {
    live.close()
    // Ending streams clear their timers, which must not happen under the clock of the next test.
    await settle()
  })
  return {
    live,
    failures,
    async tick(milliseconds = POLL_MS) {
      mock.timers.tick(milliseconds)
      for (let round = 0; round < 5; round++) await settle()
    },
  }
}

/** A topic whose content the test changes. */
function topicOf(topic: string) {
  const state = { content: { version: 1 }, reads: 0, fails: false }
  const read = async () => {
    state.reads += 1
    if (state.fails) throw new Error('the database is away')
    return state.content
  }
  return { state, watched: { topic, read } }
}

const changesOf = (output: PassThrough) => String(output.read() ?? '').split('event: changed').length - 1

test('a change is sent once to each stream of its topic, and to no other', async (t) => {
  const { live, tick } = liveStreams(t)
  const [packages, deliveries] = [topicOf('packages'), topicOf('deliveries')]
  const outputs = [new PassThrough(), new PassThrough(), new PassThrough()] as const
  live.add(outputs[0], packages.watched)
  live.add(outputs[1], packages.watched)
  live.add(outputs[2], deliveries.watched)
  await tick(0)
  assert.deepEqual(outputs.map(changesOf), [0, 0, 0])
  packages.state.content = { version: 2 }
  await tick()
  assert.deepEqual(outputs.map(changesOf), [1, 1, 0])
  await tick()
  assert.deepEqual(outputs.map(changesOf), [0, 0, 0])
  assert.deepEqual([packages.state.reads, deliveries.state.reads], [3, 3], 'one read a topic and poll')
})

test('a change between the page and its stream is not missed', async (t) => {
  const { live, tick } = liveStreams(t)
  const { state, watched } = topicOf('delivery')
  const [stale, current] = [new PassThrough(), new PassThrough()]
  const seen = fingerprint(state.content)
  state.content = { version: 2 }
  live.add(stale, { ...watched, seen })
  live.add(current, { ...watched, seen: fingerprint(state.content) })
  await tick(0)
  assert.deepEqual([stale, current].map(changesOf), [1, 0])
})

test('a failed read is reported, sends nothing, and the next poll tries again', async (t) => {
  const { live, tick, failures } = liveStreams(t)
  const [broken, working] = [topicOf('broken'), topicOf('working')]
  const outputs = [new PassThrough(), new PassThrough()]
  for (const [index, { watched }] of [broken, working].entries())
    live.add(outputs[index] ?? new PassThrough(), watched)
  await tick(0)
  broken.state.fails = true
  working.state.content = { version: 2 }
  await tick()
  assert.equal(failures.length, 1)
  assert.deepEqual(outputs.map(changesOf), [0, 1], 'another topic is not held up')
  broken.state.fails = false
  broken.state.content = { version: 2 }
  await tick()
  assert.deepEqual(outputs.map(changesOf), [1, 0])
})

test('a stream that is no longer permitted ends at the next poll, without the change', async (t) => {
  const { live, tick, failures } = liveStreams(t)
  const { state, watched } = topicOf('packages')
  const [refused, unclear, permitted] = [new PassThrough(), new PassThrough(), new PassThrough()]
  let isPermitted = true
  let isAway = false
  const check = async () => {
    if (isAway) throw new Error('the database is away')
    return true
  }
  live.add(refused, { ...watched, isPermitted: async () => isPermitted })
  live.add(unclear, { ...watched, isPermitted: check })
  live.add(permitted, watched)
  await tick(0)
  isPermitted = false
  isAway = true
  state.content = { version: 2 }
  await tick()
  assert.deepEqual([refused, unclear, permitted].map(changesOf), [0, 1, 1])
  assert.deepEqual(
    [refused, unclear, permitted].map(({ writableEnded }) => writableEnded),
    [true, false, false],
  )
  assert.equal(failures.length, 1)
})

test('topics are read one after the other, and nothing is read without a stream', async (t) => {
  const { live, tick } = liveStreams(t)
  let [running, most] = [0, 0]
  const slow = async () => {
    most = Math.max(most, ++running)
    await new Promise((resolve) => setImmediate(resolve))
    running -= 1
    return {}
  }
  const outputs = ['a', 'b', 'c'].map((topic) => {
    const output = new PassThrough()
    live.add(output, { topic, read: slow })
    return output
  })
  await tick(0)
  await tick()
  assert.equal(most, 1)
  for (const output of outputs) output.destroy()
  const { state, watched } = topicOf('last')
  await tick()
  await tick()
  const output = new PassThrough()
  live.add(output, watched)
  await tick(0)
  assert.equal(state.reads, 1, 'the first stream after a pause is served at once')
  output.destroy()
  await tick(0)
  await tick()
  await tick()
  assert.equal(state.reads, 1)
})

test('streams are bounded; a stream that ended makes room, and a closed registry has none', (t) => {
  const { live } = liveStreams(t)
  const { watched } = topicOf('bounded')
  const outputs = Array.from({ length: 3 }, () => new PassThrough())
  for (const output of outputs) {
    assert.ok(live.hasRoom)
    live.add(output, watched)
  }
  assert.ok(!live.hasRoom)
  outputs[0]?.emit('close')
  assert.ok(live.hasRoom)
  live.close()
  assert.ok(!live.hasRoom)
  assert.ok(outputs.slice(1).every(({ writableEnded }) => writableEnded))
})
