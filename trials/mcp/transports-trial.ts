import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { ERAS } from '../../packages/mcp/src/clients.fixture.ts'
import { companies, WITH_LOG } from '../../packages/mcp/src/companies.fixture.ts'
import { tellStory } from '../../packages/mcp/src/story.fixture.ts'
import { MAXIMUM_MESSAGE_BYTES } from '../../packages/mcp/src/mcp-limits.ts'
import {
  commandOf,
  connectByHttp,
  connectByStdio,
  startHttpProcess,
} from '../../packages/mcp/src/aex-mcp.fixture.ts'

const CANCEL_MS = 10_000
const STEP_MS = 50

const both = companies(WITH_LOG)

for (const era of ERAS) {
  test(`two models tell the whole story through aex agent mcp on standard streams (${era})`, async () => {
    const { acme, bolt } = both
    await using one = await connectByStdio(acme.dir, era)
    await using other = await connectByStdio(bolt.dir, era)
    await tellStory({ ...acme, mcp: one }, { ...bolt, mcp: other })
    assert.match(one.errors(), /send_draft: done, \d+ ms/u)
    assert.doesNotMatch(one.errors() + other.errors(), /Rails|Week 13|eyJ/u)
  })

  test(`two models tell the whole story through aex agent mcp --http (${era})`, async () => {
    const { acme, bolt } = both
    await using first = await startHttpProcess(acme.dir)
    await using second = await startHttpProcess(bolt.dir)
    await using one = await connectByHttp(first, era)
    await using other = await connectByHttp(second, era)
    await tellStory({ ...acme, mcp: one }, { ...bolt, mcp: other })
  })
}

test('a client on standard streams and one over HTTP use the same agent at the same time', async () => {
  const { acme } = both
  await using http = await startHttpProcess(acme.dir)
  await using one = await connectByStdio(acme.dir, 'auto')
  await using other = await connectByHttp(http, 'auto')
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? one : other).result('list_drafts')),
  )
  assert.ok(answers.every((answer) => JSON.stringify(answer) === JSON.stringify(answers[0])))
})

for (const era of ERAS) {
  test(`a call on standard streams ends when its client cancels it (${era})`, async () => {
    const { acme } = both
    await using mcp = await connectByStdio(acme.dir, era)
    await mcp.result('list_inbox')
    const { threads } = await mcp.result<{ threads: { thread_id: string }[] }>('list_threads')
    const [thread] = threads
    assert.ok(thread)
    const abort = new AbortController()
    const waiting = { thread_id: thread.thread_id, changed_after: '2999-01-01T00:00:00Z', wait_seconds: 50 }
    await assert.rejects(
      mcp.client.callTool(
        { name: 'follow_thread', arguments: waiting },
        { signal: abort.signal, onprogress: () => abort.abort() },
      ),
    )
    for (
      let waited = 0;
      !/follow_thread: cancelled/u.test(mcp.errors()) && waited < CANCEL_MS;
      waited += STEP_MS
    )
      await wait(STEP_MS)
    assert.match(mcp.errors(), /follow_thread: cancelled/u)
  })
}

test('a message above the limit ends neither the process nor the session', async () => {
  const { command, args } = commandOf(both.acme.dir)
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] })
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors += String(chunk)))
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const ask = async (message: object) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    const { value } = await answers.next()
    return JSON.parse(String(value)) as { id: number; error?: { message: string }; result?: object }
  }
  const clientInfo = { name: 'test', version: '1' }
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
  assert.ok((await ask({ id: 1, method: 'initialize', params })).result)
  const refused = await ask({ id: 2, method: 'ping', params: { pad: 'x'.repeat(MAXIMUM_MESSAGE_BYTES) } })
  assert.deepEqual([refused.id, /larger than/u.test(refused.error?.message ?? '')], [2, true])
  assert.deepEqual((await ask({ id: 3, method: 'ping' })).result, {})
  const ended = once(child, 'exit')
  child.stdin.end()
  assert.deepEqual(await ended, [0, null])
  assert.match(errors, /message: limited \(message_too_large\)/u)
})
