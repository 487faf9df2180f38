import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { test } from 'node:test'
import { companies } from './companies.fixture.ts'
import { startToolClient } from './tool-client.ts'

const AEX = resolve(import.meta.dirname, '../../cli/bin/aex.js')
const both = companies()

test(
  'a scripted model calls tools of `aex agent mcp` over standard streams',
  { timeout: 60_000 },
  async () => {
    await using client = await startToolClient({
      command: process.execPath,
      args: [AEX, 'agent', 'mcp', '--dir', both.acme.dir],
    })
    const described = await client.callTool('describe_agent', {})
    assert.equal((described.structuredContent as { agent_id: string }).agent_id, 'agent_acme')
    const [refused, drafts] = await Promise.all([
      client.callTool('send_draft', { draft_id: `draft_${'0'.repeat(32)}`, approved: true }),
      client.callTool('list_drafts', {}),
    ])
    assert.equal(refused.isError, true)
    assert.deepEqual((drafts.structuredContent as { drafts: unknown[] }).drafts, [])
  },
)

test('a server that ends, or cannot be started, fails the call at once', { timeout: 60_000 }, async () => {
  const ends = { command: process.execPath, args: ['--eval', 'process.exit(3)'] }
  await assert.rejects(startToolClient(ends), /the MCP server has ended|EPIPE|closed/u)
  await assert.rejects(
    startToolClient({ command: '/no/such/program', args: [] }),
    /ended|EPIPE|closed|ENOENT/u,
  )
})

test('a server that answers nonsense is refused', { timeout: 60_000 }, async () => {
  const answer = `process.stdin.on('data', (line) => {
    for (const each of String(line).trim().split('\\n')) {
      const { id, method } = JSON.parse(each)
      if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: { said: method } }))
    }
  })`
  await using client = await startToolClient({ command: process.execPath, args: ['--eval', answer] })
  await assert.rejects(client.callTool('list_inbox', {}), /not a tool result/u)
})
