import assert from 'node:assert/strict'
import { generateKeyPair } from '@agent-exchange/crypto'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { after, afterEach, before, test } from 'node:test'
import { connectFolder } from '@agent-exchange/sdk/node'
import { openAgentFolder } from '@agent-exchange/sdk/internal/node'
import { aexHere } from '../../aex-here.fixture.ts'
import { startLyingExchange, type LyingExchange } from '../../lying-proxy.fixture.ts'
import { madeAgent, temporaryFolder } from './agents.fixture.ts'

interface Report {
  readonly ok: boolean
  readonly checks: readonly { readonly check: string; readonly ok: boolean; readonly detail: string }[]
}

const folder = temporaryFolder()
let exchange: LyingExchange
let acme: string
before(async () => {
  exchange = await startLyingExchange()
  acme = await madeAgent(exchange.world, 'acme', folder.path('acme'), { url: exchange.url })
})
after(async () => {
  await exchange[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})
afterEach(() => {
  exchange.lie = () => undefined
})

/** The one thing that the doctor finds wrong; everything before it is right and nothing after it is looked at. */
async function wrong(dir: string, ...options: string[]): Promise<[string, string]> {
  const { code, stdout, stderr } = await aexHere('agent', 'doctor', '--dir', dir, '--json', ...options)
  assert.equal(code, 1, stdout)
  assert.equal(stderr, '')
  const { ok, checks } = JSON.parse(stdout) as Report
  assert.equal(ok, false)
  const last = checks.at(-1)
  assert.deepEqual(
    checks.filter((check) => !check.ok),
    [last],
  )
  return [last?.check ?? '', last?.detail ?? '']
}

/** The exchange acts, and its answer is lost on the way. */
const losing =
  (lost: string): LyingExchange['lie'] =>
  (path, answer) => {
    if (path === lost) answer.body = '{}'
  }

test('all checks run in order, and each success is reported', async () => {
  const { code, stdout } = await aexHere('agent', 'doctor', '--dir', acme)
  assert.equal(code, 0, stdout)
  assert.equal(stdout.match(/✔/g)?.length, 10)
  assert.match(stdout, /clocks agree[^]*agent_acme is active[^]*nothing is waiting[^]*Everything is as it/)
})

test('no agent in the folder, and no exchange at the address', async () => {
  assert.match((await wrong(folder.path('none'))).join(), /^agent folder,There is no agent in this folder/)
  const [check, detail] = await wrong(acme, '--url', 'http://127.0.0.1:9')
  assert.deepEqual(
    [check, /Nothing usable answers at http:\/\/127\.0\.0\.1:9/.test(detail)],
    ['exchange and clock', true],
  )
})

test('a clock that is not that of the exchange, on either side', async () => {
  for (const [seconds, word] of [
    [-90, 'ahead of'],
    [90, 'behind'],
  ] as const) {
    exchange.lie = (_, answer) => {
      answer.date = new Date(Date.parse(answer.date) + seconds * 1_000).toUTCString()
    }
    const [check, detail] = await wrong(acme)
    assert.equal(check, 'exchange and clock')
    assert.match(detail, new RegExp(`(?:89|90) s ${word} the exchange's`))
  }
})

test('an agent that was never registered, a client that is not its own, an agent that was suspended', async () => {
  const { world, url } = exchange
  const fresh = await madeAgent(world, 'fresh', folder.path('fresh'), { register: false, url })
  assert.deepEqual(await wrong(fresh), [
    'registration',
    `The agent is not registered. Run: npx aex agent register --dir ${fresh}`,
  ])
  assert.match((await wrong(fresh, '--client', 'client_none')).join(), /^access token,.*token_refused/s)
  const stopped = await madeAgent(world, 'stopped', folder.path('stopped'), { url })
  await world.operate('POST', '/agents/agent_stopped/status', { status: 'suspended', reason: 'test' })
  assert.match((await wrong(stopped)).join(), /^registration,The agent is suspended/)
})

test('a key that is not registered, one that was revoked, and a rotation that was interrupted', async () => {
  const dir = await madeAgent(exchange.world, 'keys', folder.path('keys'), { url: exchange.url })
  {
    await using agent = await connectFolder(dir)
    const { keyId } = (await agent.context.keys.list()).find(({ role }) => role === 'encryption') ?? {}
    await agent.revokeKey(String(keyId), {
      invalidFrom: new Date(),
      reasonCode: 'compromise',
      evidenceReference: 'case_7',
    })
  }
  assert.match(
    (await wrong(dir)).join(),
    /^own keys,The encryption key \S+ is revoked.*npx aex agent keys rotate encryption --dir \S+$/,
  )
  assert.equal((await aexHere('agent', 'keys', 'rotate', 'encryption', '--dir', dir)).code, 0)

  exchange.lie = losing('/v1/agents/agent_keys/keys')
  assert.equal((await aexHere('agent', 'keys', 'rotate', 'signing', '--dir', dir)).code, 1)
  exchange.lie = () => undefined
  assert.match(
    (await wrong(dir)).join(),
    /^own keys,The signing key \S+ is retiring.*Finish the rotation.*npx aex agent keys rotate signing --dir \S+$/,
  )
  assert.equal((await aexHere('agent', 'keys', 'rotate', 'signing', '--dir', dir)).code, 0)
  assert.equal((await aexHere('agent', 'doctor', '--dir', dir)).code, 0)

  const { keys } = await openAgentFolder(dir)
  const current = (await keys.list()).find(({ role, stage }) => role === 'signing' && stage === 'current')
  const createdAt = new Date().toISOString()
  const next = await keys.generate({ role: 'signing', stage: 'next', createdAt })
  await keys.setStages({ [String(current?.keyId)]: 'previous', [next.keyId]: 'current' })
  assert.match((await wrong(dir)).join(), /^own keys,The signing key \S+ is not registered.*Restore/)
})

test('a directory that shows another key under our own id', async () => {
  const { publicKey } = await generateKeyPair('signing')
  exchange.lie = (path, answer) => {
    if (!path.endsWith('/keys') || answer.status !== 200) return
    const shown = JSON.parse(answer.body) as { keys: { use: string; public_key: object }[] }
    for (const key of shown.keys) if (key.use === 'signing') key.public_key = publicKey.jwk
    answer.body = JSON.stringify(shown)
  }
  assert.match((await wrong(acme)).join(), /^own keys,The directory shows another key.*Do not send/)
})

test('a transparency log that does not answer, since when', async () => {
  exchange.lie = (path, answer) => {
    if (path.startsWith('/log/')) answer.status = 503
  }
  const [check, detail] = await wrong(acme)
  assert.equal(check, 'transparency log')
  const since = /could not be checked since (\S+):/u.exec(detail)?.[1]
  assert.ok(since !== undefined && (await wrong(acme))[1].includes(since), detail)
  const thread = await aexHere('agent', 'thread', 'thread_none', '--dir', acme)
  assert.match(thread.stderr, new RegExp(`warning: The transparency log could not be checked since ${since}`))
})

test('a package that was sealed and never accepted, until it is resumed', async () => {
  await madeAgent(exchange.world, 'bolt', folder.path('bolt'), { url: exchange.url })
  const policy = folder.path('policy.json')
  const object = folder.path('object.json')
  const terms = ['--to', 'org_bolt', '--policy-id', 'pol_1', '--dir', acme]
  await aexHere('new', 'policy_envelope', ...terms, '--out', policy)
  await aexHere('new', 'reasoning_package', ...terms, '--out', object)
  exchange.lie = losing('/v1/packages')
  const sent = await aexHere('agent', 'send', object, '--policy', policy, '--to', 'agent_bolt', '--dir', acme)
  assert.equal(sent.code, 1)
  assert.match(
    (await wrong(acme)).join(),
    /^outbox,1 package\(s\) were sealed.*npx aex agent resume --dir \S+$/,
  )
  const still = await aexHere('agent', 'resume', '--dir', acme, '--json')
  assert.equal(still.code, 1)
  assert.match(still.stdout, /"outcome": "pending"/)

  exchange.lie = () => undefined
  const resumed = await aexHere('agent', 'resume', '--dir', acme)
  assert.equal(resumed.code, 0, resumed.stderr)
  assert.match(resumed.stdout, /^pkg_\S+ is accepted$/m)
  assert.equal((await aexHere('agent', 'resume', '--dir', acme)).stdout, 'Nothing is waiting.\n')
})

test('a webhook address where nothing answers, or something else than the receiver', async () => {
  const server = createServer((_, response) => response.writeHead(404).end()).unref()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const remember = async (url: string) => {
    await using agent = await connectFolder(acme, { lazily: true })
    await agent.inbox().writeValue('webhook_endpoint', JSON.stringify({ generation: 1, url, eventTypes: [] }))
  }
  await remember(`http://127.0.0.1:${port}/${randomUUID()}`)
  assert.match((await wrong(acme)).join(), /^webhook,Something answers.*status 404.*not the receiver/)
  await new Promise((resolve) => server.close(resolve))
  assert.match((await wrong(acme)).join(), /^webhook,Nothing usable answers.*ECONNREFUSED/)
})
