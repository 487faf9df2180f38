import assert from 'node:assert/strict'
import { chmodSync, writeFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { startWorld, type World } from '@agent-exchange/testkit'
import { aexAt } from '../../aex-here.fixture.ts'
import { madeAgent, temporaryFolder } from './agents.fixture.ts'

const folder = temporaryFolder()
const file = folder.path('config.json')
const env = { AEX_CONFIG: file }
let world: World
before(async () => {
  world = await startWorld()
  await madeAgent(world, 'acme', folder.path('acme'))
  write({
    exchanges: {
      here: { url: world.url, dir: 'acme' },
      away: { url: 'http://127.0.0.1:9', dir: 'acme' },
      empty: {},
    },
  })
})
after(async () => {
  await world[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

function write(content: unknown): void {
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content), { mode: 0o600 })
}

test('a named exchange supplies folder and address, and wins over variables', async () => {
  const wrong = { ...env, AEX_URL: 'http://127.0.0.1:9', AEX_AGENT_DIR: '/nowhere' }
  const found = await aexAt({ env: wrong }, 'agent', 'token', '--exchange', 'here')
  assert.equal(found.code, 0, found.stderr)
  const byVariable = await aexAt({ env: { ...env, AEX_EXCHANGE: 'here' } }, 'agent', 'token')
  assert.equal(byVariable.code, 0, byVariable.stderr)
})

test('an option wins over the named exchange', async () => {
  const away = await aexAt({ env }, 'agent', 'token', '--exchange', 'away')
  assert.equal(away.code, 1)
  assert.match(away.stderr, /discovery_failed|exchange_unreachable/)
  const given = await aexAt({ env }, 'agent', 'token', '--exchange', 'away', '--url', world.url)
  assert.equal(given.code, 0, given.stderr)
})

test('a wrong name or a wrong file is said in a sentence', async () => {
  const tried = async (name = 'here') => (await aexAt({ env }, 'agent', 'token', '--exchange', name)).stderr
  assert.match(await tried('elsewhere'), /has no exchange "elsewhere". It has: here, away, empty\./)
  assert.match(await tried('toString'), /has no exchange "toString"/)
  chmodSync(file, 0o666)
  assert.match(await tried(), /Other users can change/)
  chmodSync(file, 0o600)
  for (const content of ['{', '{"exchanges":{},"exchanges":{}}']) {
    write(content)
    assert.match(await tried(), /cannot be read as JSON/)
  }
  write({ exchanges: { here: { password: 'x' } } })
  assert.match(await tried(), /is not of the expected form/)
})
