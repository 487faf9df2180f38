import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { generateKeyPair } from '@agent-exchange/crypto'
import { keyLabel } from '@agent-exchange/log'
import { changed } from '../meddling-proxy.fixture.ts'
import { concealed, Operator, rewritten, startCheatingExchange } from './cheating-exchange.fixture.ts'
import { monitorLog } from './monitor-log.ts'
import type { MonitorState } from './monitor-state.ts'

const exchange = await startCheatingExchange()
after(() => exchange[Symbol.asyncDispose]())
const { proxy, thread, packages } = exchange
const [opened, , revoked] = packages
let operator = new Operator(exchange)
let { log } = operator
const filler = (byte: number) => new Uint8Array(64).fill(byte)
const scan = (state?: MonitorState) => operator.scan(state)

const NOT_FOUND = {
  type: 'https://exchange.example/problems/resource_not_found',
  title: 'The resource does not exist',
  status: 404,
  code: 'resource_not_found',
  correlation_id: 'corr_1',
  retryable: false,
  details: {},
}

beforeEach(() => {
  operator = new Operator(exchange)
  ;({ log } = operator)
})

test('[AUD-03] an honest log has no findings, and a second run scans only what is new', async () => {
  const first = await scan()
  assert.deepEqual([first.kinds, first.scanned], [[], log.size])
  assert.ok(first.state.found.length > 0)
  const size = log.size
  for (let at = 0; at < 600; at++) log.leaves.push(filler(at % 256))
  const second = await scan(JSON.parse(JSON.stringify(first.state)) as MonitorState)
  assert.deepEqual([second.kinds, second.scanned, second.size], [[], 600, size + 600])
  const third = await scan(second.state)
  assert.deepEqual([third.kinds, third.scanned], [[], 0])
})

test('[AUD-03] a run has steps for each package and each leaf, and ends where a step says so', async () => {
  let steps = 0
  const onStep = async () => void (steps += 1)
  const { state } = await scan()
  const result = await monitorLog(operator.agent, state, { onStep })
  assert.deepEqual(result?.findings, [])
  assert.ok(steps >= packages.length + state.found.length, `${steps} steps`)
  const ending = () => Promise.reject(new Error('the process ends'))
  await assert.rejects(monitorLog(operator.agent, state, { onStep: ending }), /the process ends/u)
})

test('[AUD-03] two histories: a second leaf for an event is found, also in a later run', async () => {
  const { state } = await scan()
  log.leaves.push(filler(9))
  operator.appendRecord(opened, 1)
  const { findings } = await scan(state)
  assert.deepEqual(
    findings.map(({ kind }) => kind),
    ['duplicate'],
  )
  assert.match(findings[0]?.sentence ?? '', /twice, at leaf \d+ and at leaf \d+: the operator keeps two/u)
  assert.deepEqual((await scan()).kinds, ['duplicate'])
})

test('[AUD-03] a record that was rewritten with right hashes is found, also long after it was scanned', async () => {
  const { state } = await scan()
  operator.show(opened, (all) => rewritten(opened, all))
  const { findings, scanned } = await scan(state)
  assert.equal(scanned, 0)
  assert.equal(findings.length, opened.records.length)
  for (const { kind, sentence } of findings) {
    assert.equal(kind, 'altered')
    assert.match(
      sentence,
      /shows of the record of pkg_\S+ from its entry \d+ on differs from leaf \d+ of the log/u,
    )
  }
})

test('[AUD-03] an entry that is taken out of the middle is found', async () => {
  const position = opened.entries.length - 1
  operator.hide(opened, position)
  const { findings } = await scan()
  const [gap] = findings
  assert.equal(gap?.kind, 'entry_gap')
  assert.match(gap.sentence, new RegExp(`without entry ${position}\\.`, 'u'))
  assert.ok(findings.some(({ kind }) => kind === 'hidden'))
})

test('[AUD-03] a revocation that is taken from the end is found', async () => {
  const { state } = await scan()
  operator.hide(revoked, revoked.entries.length)
  for (const each of [operator.nothingKnown, state]) {
    const { findings, kinds } = await scan(each)
    assert.deepEqual(kinds, ['hidden'])
    assert.match(findings[0]?.sentence ?? '', /does not show this event: it hides it/u)
  }
})

test('[AUD-03] a receipt behind a placeholder is found', async () => {
  const position = opened.entries.length - 1
  operator.show(opened, (all) =>
    all.map((entry) => (entry.chain?.position === position ? concealed(entry) : entry)),
  )
  const { findings } = await scan()
  assert.match(
    findings[0]?.sentence ?? '',
    /^The exchange hides entry \d+ of pkg_\S+, a \w+, which both parties may see/u,
  )
  assert.equal(findings[0]?.kind, 'concealed')
})

test('[AUD-03] threads of the event stream are watched without being named', async () => {
  operator.appendRecord(opened, 1)
  const { kinds, state } = await scan({ threads: [], found: [] })
  assert.deepEqual([kinds, state.threads], [['duplicate'], [thread.threadId]])
})

test('[AUD-03] a hidden record after the last entry is found, up to 16 positions ahead', async () => {
  operator.appendRecord(opened, opened.entries.length + 16)
  const { findings } = await scan()
  assert.deepEqual(
    findings.map(({ kind }) => kind),
    ['hidden'],
  )
  assert.match(
    findings[0]?.sentence ?? '',
    /from its entry \d+ on at leaf \d+, and the exchange does not show this event: it hides it/u,
  )
})

test('[ID-04] a hidden key event, such as a revocation, is found by its number alone', async () => {
  const { agentId } = thread.bolt.identity
  const number = log.events.filter(({ event }) => event.agent_id === agentId).length + 1
  operator.appendLeaf(keyLabel({ agentId, number }))
  const { findings } = await scan()
  assert.match(findings[0]?.sentence ?? '', new RegExp(`key event ${number} of ${agentId}`, 'u'))
})

test('[ID-05] a key that the operator registered behind the back of the agent is found', async () => {
  const own = log.events.find(({ event }) => event.agent_id === thread.bolt.identity.agentId)
  assert.ok(own)
  Object.assign(own.event, { thumbprint: 'A'.repeat(43) })
  assert.deepEqual((await scan()).kinds, ['unknown_key', 'altered'])
})

test('[ID-05] a key that only the directory shows is found', async () => {
  const { publicKey } = await generateKeyPair('signing')
  proxy.after = ({ path }, reply) =>
    path === `/v1/directory/agents/${thread.bolt.identity.agentId}/keys`
      ? changed(reply, (body) => {
          const [first, ...others] = body['keys'] as object[]
          return {
            ...body,
            keys: [first, ...others, { ...first, key_id: 'key_x', public_key: publicKey.jwk }],
          }
        })
      : reply
  const { findings } = await scan()
  assert.match(findings[0]?.sentence ?? '', /shows key key_x \(in the directory\) as one of/u)
})

test('[ID-04] a false key far beyond the last key event is found, and so is a gap in what is shown', async () => {
  const { agentId } = thread.bolt.identity
  const own = log.events.filter(({ event }) => event.agent_id === agentId)
  operator.appendLeaf(keyLabel({ agentId, number: own.length + 65 }))
  const hidden = await scan()
  assert.deepEqual(hidden.kinds, ['hidden'])
  for (const number of [own.length + 65, 1e15]) {
    const [last] = own.slice(-1)
    assert.ok(last)
    log.events.push({ event: { ...last.event, number }, index: log.leaves.length - 1 })
    const { findings } = await scan()
    assert.ok(
      findings.some(({ sentence }) => sentence.includes(`without number ${own.length + 1}.`)),
      JSON.stringify(findings),
    )
    log.events.pop()
  }
  log.events.push(...own.slice(-1))
  assert.ok((await scan()).kinds.includes('key_gap'))
})

test('[AUD-03] a leaf of a package that was hidden while it was scanned is found when the package is shown', async () => {
  // The operator logs the package, hides it, and shows it later with a second leaf.
  operator.appendRecord(opened, 1)
  log.leaves.unshift(...log.leaves.splice(-1))
  for (const each of [...log.records, ...log.events]) each.index += 1
  const shown = proxy.before
  const empty = { items: [], next_cursor: 'cursor_0', has_more: false }
  proxy.before = (request) =>
    request.path.startsWith('/v1/notifications')
      ? { headers: { 'content-type': 'application/json' }, body: JSON.stringify(empty) }
      : shown(request)
  const unaware = await scan({ threads: [], found: [] })
  assert.deepEqual([unaware.kinds, unaware.state.threads], [[], []])
  proxy.before = shown
  const aware = await scan(unaware.state)
  assert.deepEqual([aware.kinds, aware.lookBack, aware.scanned], [['duplicate'], 'done', log.size])
  assert.deepEqual((await scan(aware.state)).lookBack, 'none')
})

test('[AUD-03] a large log is searched for new labels once an hour, and nothing is forgotten meanwhile', async () => {
  for (let at = 0; at < 17_000; at++) log.leaves.push(filler(at % 256))
  const known = await scan({ threads: [], found: [] })
  const forgetful = { ...known.state, searched: [] }
  const soon = await scan(forgetful)
  assert.deepEqual([soon.lookBack, soon.scanned], ['postponed', 0])
  operator.advance(60)
  const later = await scan(soon.state)
  assert.deepEqual([later.lookBack, later.scanned], ['done', log.size])
})

test('[AUD-03] an event cannot claim an old leaf that holds another one', async () => {
  const { state } = await scan()
  const first = log.records[0]
  assert.ok(first)
  first.index = 0
  const { findings, scanned } = await scan(state)
  assert.equal(scanned, 0)
  assert.match(findings[0]?.sentence ?? '', /is leaf 0, and that leaf is another one/u)
})

test('[AUD-03] an event that never gets a leaf is reported an hour after it was first seen', async () => {
  const last = log.records.at(-1)
  assert.ok(last)
  log.leaves.splice(last.index, 1)
  for (const later of log.events.filter(({ index }) => index > last.index)) later.index--
  last.index = Infinity
  const first = await scan()
  assert.deepEqual(first.kinds, [])
  // Nor does leaving it out of the list help.
  log.records.pop()
  operator.advance(59)
  const second = await scan(first.state)
  assert.deepEqual(second.kinds, [])
  operator.advance(2)
  assert.deepEqual((await scan(second.state)).kinds, ['overdue'])
})

test('[AUD-03] a thread that the exchange does not show any more is found', async () => {
  const { state } = await scan()
  const shown = proxy.before
  proxy.before = (request) => {
    if (!request.path.startsWith(`/v1/threads/${thread.threadId}`)) return shown(request)
    const type = { 'content-type': 'application/problem+json' }
    return { status: 404, headers: type, body: JSON.stringify(NOT_FOUND) }
  }
  const { findings } = await scan(state)
  assert.match(findings[0]?.sentence ?? '', /does not show thread_\S+ any more/u)
})

test('[AUD-03] a leaf that is not where the exchange says is found', async () => {
  const [first, second] = log.records
  assert.ok(first && second)
  ;[first.index, second.index] = [second.index, first.index]
  assert.deepEqual(new Set((await scan()).kinds), new Set(['missing']))
})

test('[AUD-03] entries that are not those of the signed tree are refused', async () => {
  await log.publish()
  proxy.before = async ({ path }) => {
    const reply = await log.answer(path)
    if (!path.includes('/entries/') || !reply) return reply
    const body = Uint8Array.from(reply.body as Uint8Array)
    body[body.length - 1] = (body.at(-1) ?? 0) ^ 1
    return { ...reply, body }
  }
  await assert.rejects(monitorLog(operator.agent, operator.nothingKnown), { code: 'log_unverifiable' })
})

test('before the first checkpoint there is nothing to scan', async () => {
  assert.equal(await monitorLog(operator.agent, operator.nothingKnown), undefined)
})
