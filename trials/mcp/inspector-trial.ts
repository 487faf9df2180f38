import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { companies } from '../../packages/mcp/src/companies.fixture.ts'
import { commandOf, startHttpProcess } from '../../packages/mcp/src/aex-mcp.fixture.ts'
import { toolProgram } from './installed-tools.ts'

const CALL_MS = 60_000
const both = companies()

/** The JSON that the inspector prints. */
async function inspect(
  target: readonly string[],
  ...options: readonly string[]
): Promise<Record<string, unknown>> {
  const program = toolProgram('.bin/mcp-inspector')
  const { stdout } = await promisify(execFile)(process.execPath, [program, '--cli', ...options, ...target], {
    timeout: CALL_MS,
  }).catch(({ stdout: printed, stderr, code }: { stdout: string; stderr: string; code: unknown }) =>
    assert.fail(`exit ${String(code)}\n${printed}${stderr}`),
  )
  return JSON.parse(stdout) as Record<string, unknown>
}

async function inspectAll(target: readonly string[]): Promise<void> {
  const { tools } = await inspect(target, '--method', 'tools/list', '--strict')
  assert.equal((tools as unknown[]).length, 14)
  const called = await inspect(target, '--method', 'tools/call', '--tool-name', 'describe_agent')
  assert.equal((called['structuredContent'] as { agent_id: string }).agent_id, 'agent_acme')
  const { resources } = await inspect(target, '--method', 'resources/list')
  assert.ok((resources as { uri: string }[]).some(({ uri }) => uri === 'aex://policies/pol_free'))
  const { contents } = await inspect(
    target,
    '--method',
    'resources/read',
    '--uri',
    'aex://schemas/audit_event',
  )
  assert.match(JSON.stringify(contents), /decision/u)
  const { prompts } = await inspect(target, '--method', 'prompts/list')
  assert.equal((prompts as unknown[]).length, 5)
}

test('the official inspector uses the agent on standard streams', async () => {
  const { command, args } = commandOf(both.acme.dir)
  await inspectAll([command, ...args])
})

test('the official inspector uses the agent over HTTP', async () => {
  await using http = await startHttpProcess(both.acme.dir)
  await inspectAll([http.url, '--header', `Authorization: Bearer ${http.token}`])
})
