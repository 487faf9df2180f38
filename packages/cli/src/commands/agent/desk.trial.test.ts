import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startWorld } from '@agent-exchange/testkit'
import { aexHere, aexRunning } from '../../aex-here.fixture.ts'
import { madeAgent, temporaryFolder } from './agents.fixture.ts'

test('the desk prints a link that signs in once, on loopback, and ends with Ctrl-C', async () => {
  await using world = await startWorld()
  using folder = temporaryFolder()
  const dir = await madeAgent(world, 'acme', folder.path('acme'))
  const running = aexRunning('agent', 'desk', '--dir', dir)
  await running.until(/Ctrl-C ends the desk/u)
  const port = async () => {
    const { stdout, stderr } = await running.interrupt()
    assert.match(stderr, /Nothing can be approved yet/u)
    return /http:\/\/127\.0\.0\.1:(?<port>\d+)\/enter\?link=[\w-]{43}$/mu.exec(stdout)?.groups?.['port']
  }
  assert.ok(Number(await port()) > 0)
  const taken = new URL(world.url).port
  const { code, stderr } = await aexHere('agent', 'desk', '--dir', dir, '--port', taken)
  assert.equal(code, 1)
  assert.match(stderr, /cannot be used. Choose another with --port/u)
})
