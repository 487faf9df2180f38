import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { TOKEN } from '../../packages/mcp/src/clients.fixture.ts'
import { companies } from '../../packages/mcp/src/companies.fixture.ts'
import { listenHttp } from '../../packages/mcp/src/http/serve-http.ts'
import { createServerFactory } from '../../packages/mcp/src/server/server-factory.ts'
import { conformanceServer } from '../../packages/mcp/src/conformance-server.fixture.ts'
import { toolProgram } from './installed-tools.ts'
import { startTokenProxy } from './token-proxy.ts'

const SCENARIO_MS = 60_000

/** Scenarios about any server. The others ask for tools, resources and prompts with names of the suite. */
const ON_THE_AGENT = [
  'server-initialize',
  'ping',
  'tools-list',
  'resources-list',
  'prompts-list',
  'dns-rebinding-protection',
]

const ON_THE_SUITES_OWN_TOOLS = [
  'tools-call-simple-text',
  'tools-call-image',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-mixed-content',
  'tools-call-error',
  'tools-call-with-progress',
  'json-schema-2020-12',
  'resources-read-text',
  'resources-read-binary',
  'resources-templates-read',
  'prompts-get-simple',
  'prompts-get-with-args',
  'prompts-get-embedded-resource',
  'prompts-get-with-image',
]

const both = companies()

async function conforms(
  factory: Parameters<typeof listenHttp>[0],
  scenarios: readonly string[],
): Promise<void> {
  await using server = await listenHttp(factory, { port: 0, token: TOKEN })
  await using proxy = await startTokenProxy(server.url, TOKEN)
  const program = toolProgram('@modelcontextprotocol/conformance/dist/index.js')
  const cwd = mkdtempSync(join(tmpdir(), 'aex-conformance-'))
  try {
    for (const scenario of scenarios) {
      const args = [program, 'server', '--url', proxy.url, '--scenario', scenario]
      const { stdout } = await promisify(execFile)(process.execPath, args, {
        cwd,
        timeout: SCENARIO_MS,
      }).catch(({ stdout: printed, stderr }: { stdout: string; stderr: string }) =>
        assert.fail(`${scenario}\n${printed}${stderr}`),
      )
      assert.match(stdout, /Passed: [1-9]\d*\/\d+, 0 failed/u, `${scenario}\n${stdout}`)
    }
  } finally {
    rmSync(cwd, { recursive: true, force: true })
  }
}

test(`the official conformance suite passes on the agent: ${ON_THE_AGENT.length} scenarios`, () =>
  conforms(createServerFactory(both.acme.session), ON_THE_AGENT))

test(`the official conformance suite passes on its own tools behind our listener: ${ON_THE_SUITES_OWN_TOOLS.length} scenarios`, () =>
  conforms(conformanceServer, ON_THE_SUITES_OWN_TOOLS))
