import assert from 'node:assert/strict'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startWorld, type World } from '@agent-exchange/testkit'
import { freePorts } from '@agent-exchange/testkit/free-ports'
import { aexRunning, fails } from '../../aex-here.fixture.ts'
import { madeAgent, temporaryFolder } from './agents.fixture.ts'

const folder = temporaryFolder()
let world: World
before(async () => {
  world = await startWorld()
})
after(async () => {
  await world[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
})

test('agent mcp --http serves with the token of the folder, and prints where it is but not what it is', async () => {
  const dir = await madeAgent(world, 'acme', folder.path('acme'))
  const [port] = await freePorts(1)
  await using running = aexRunning('agent', 'mcp', '--dir', dir, '--http', String(port), '--json')
  await running.until(/Ctrl-C ends it/u)
  const file = join(dir, 'mcp-token')
  const token = readFileSync(file, 'utf8').trim()
  assert.equal(statSync(file).mode & 0o777, 0o600)
  const url = `http://127.0.0.1:${port}/mcp`
  const post = (authorization: string) =>
    fetch(url, {
      method: 'POST',
      headers: {
        authorization,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: INITIALIZE,
    })
  const served = await post(`Bearer ${token}`)
  assert.equal(served.status, 200)
  assert.match(await served.text(), /agent-exchange/u)
  assert.equal((await post('Bearer wrong')).status, 401)
  const { stdout, stderr, code } = await running.interrupt()
  assert.deepEqual([code, JSON.parse(stdout)], [0, { url, token_file: file }])
  assert.ok(!(stdout + stderr).includes(token))
})

test('agent mcp refuses a log policy that it cannot read, and a folder without an agent', async () => {
  const dir = await madeAgent(world, 'bolt', folder.path('bolt'))
  const policy = folder.path('log-policy.txt')
  writeFileSync(policy, 'nonsense')
  assert.match(
    await fails('agent', 'mcp', '--dir', dir, '--log-policy', policy),
    /log policy cannot be used/u,
  )
  assert.match(
    await fails('agent', 'mcp', '--dir', folder.path('nobody'), '--http', '0'),
    /no agent in this folder/u,
  )
})
