import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startWorld, type World } from '@agent-exchange/testkit'
import { ROOT } from '../../tools/repository/repository-files.ts'
import { startFolderAgent, type TestAgent } from '../../packages/mcp/src/agents.fixture.ts'
import { connected, wrapped } from '../../packages/mcp/src/clients.fixture.ts'
import { StdioClientTransport } from '../../packages/mcp/src/official-client.fixture.ts'
import { TOOLS } from '../../packages/mcp/src/tools/index.ts'
import { connectByHttp, startHttpProcess } from '../../packages/mcp/src/aex-mcp.fixture.ts'

const PAGE = readFileSync(join(ROOT, 'docs/mcp.md'), 'utf8')
const env = { ...process.env, PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env['PATH']}` }

interface Configured {
  readonly command?: string
  readonly args?: readonly string[]
  readonly url?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Fenced blocks of the page, without the indentation of a list. */
function blocksOf(language: 'sh' | 'json'): string[] {
  const fence = new RegExp(`^( *)\`\`\`${language}\\n(.*?)^ *\`\`\`$`, 'gms')
  return [...PAGE.matchAll(fence)].map(([, indent = '', text = '']) =>
    text.replaceAll(new RegExp(`^${indent}`, 'gmu'), ''),
  )
}

const configurations = blocksOf('json').map((block) => {
  const { mcpServers, servers } = JSON.parse(block) as Record<string, Record<string, Configured>>
  return Object.values(mcpServers ?? servers ?? {})[0] ?? {}
})

let world: World
let seats: TestAgent
let cars: TestAgent
const folder = mkdtempSync(join(tmpdir(), 'aex-mcp-page-'))
before(async () => {
  world = await startWorld()
  seats = await startFolderAgent(world, 'seats', 'cars', join(folder, 'seats'))
  cars = await startFolderAgent(world, 'cars', 'seats')
})
after(async () => {
  for (const each of [seats, cars, world]) await each?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

test('the page writes a policy that the model sees, and each configuration of a client starts the server', async () => {
  const [policy = '', http = ''] = blocksOf('sh')
  execFileSync('bash', ['-euo', 'pipefail', '-c', policy.replaceAll('npx ', '')], { cwd: folder, env })
  const starting = configurations.filter(({ command }) => command !== undefined)
  assert.equal(starting.length, 2)
  for (const { command = '', args = [] } of starting) {
    const transport = new StdioClientTransport({
      command,
      args: args.map((each) => each.replace('/path/to/seats', join(folder, 'seats'))),
      env,
      stderr: 'ignore',
    })
    await using client = wrapped(await connected(transport, 'auto'))
    const { policies } = await client.result<{ policies: { policy_id: string }[] }>('describe_agent')
    assert.deepEqual(
      policies.map(({ policy_id }) => policy_id),
      ['pol_model'],
    )
  }
  assert.match(http, /^npx aex agent mcp --dir seats --http 8700\n$/u)
})

test('the page connects a client over HTTP', async () => {
  const over = configurations.find(({ url }) => url !== undefined)
  const port = await freePort()
  await using server = await startHttpProcess(join(folder, 'seats'), String(port))
  assert.equal(over?.url?.replace('8700', String(port)), server.url)
  const token = readFileSync(join(folder, 'seats', 'mcp-token'), 'utf8').trim()
  assert.equal(over?.headers?.['Authorization']?.replace('TOKEN', token), `Bearer ${server.token}`)
  await using client = await connectByHttp(server, 'auto')
  assert.equal((await client.client.listTools()).tools.length, TOOLS.length)
})

test('the page lists every tool with its limit', () => {
  const rows = [...PAGE.matchAll(/^\| `(\w+)` +\|.*\| (\d+) +\|$/gmu)].map(([, name, calls]) => [
    name,
    Number(calls),
  ])
  assert.deepEqual(
    rows,
    TOOLS.map(({ name, callsPerMinute }) => [name, callsPerMinute]),
  )
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
