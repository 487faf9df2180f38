import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import { freePorts, startWorld, type World } from '@agent-exchange/testkit'
import { startSimulator } from '@agent-exchange/edc-simulator'
import { makersOf } from '@agent-exchange/sdk/internal'
import { connectFolder, createAgentFolder, setExchangeAccess } from '@agent-exchange/sdk/node'
import { openAgentFolder, setAgentDefaults } from '@agent-exchange/sdk/internal/node'
import { provision } from '../../../sdk/src/agents.fixture.ts'
import { CONNECTOR_ERROR_CODES } from '../connector-error.ts'
import { linkPackages, snippetsOf } from '../../../sdk/src/documentation.fixture.ts'

/**
 * docs/data-spaces.md: its programs run as written, and its table has every failure. The commands of the page, with
 * the program of the simulator, are run by packages/cli/src/pages-in-order.trial.test.ts.
 */
const PAGE = 'data-spaces.md'
const SDK_README = '../packages/sdk/README.md'
const EDC_README = '../packages/edc/README.md'
const folder = mkdtempSync(join(tmpdir(), 'aex-data-spaces-'))
const startedIn = process.cwd()
process.chdir(folder)
after(() => {
  process.chdir(startedIn)
  rmSync(folder, { recursive: true })
})
linkPackages(folder)

/** Runs the program under a heading and returns the lines that it printed. */
async function run(
  { mock }: TestContext,
  heading: string,
  { page = PAGE, change = (code: string) => code } = {},
) {
  const found = snippetsOf(page, 'ts').filter((snippet) => snippet.heading === heading)
  assert.equal(found.length, 1, heading)
  const file = join(folder, `${heading.replaceAll(/\W+/gu, '-')}.ts`)
  writeFileSync(file, change(found[0]?.code ?? ''))
  const said = mock.method(console, 'log', () => undefined)
  await import(pathToFileURL(file).href)
  return said.mock.calls.map(({ arguments: parts }) => (parts as string[]).join(' '))
}

/** What the page tells the operator to approve. */
function approvals(): Record<string, string>[] {
  const lines = snippetsOf(PAGE, 'sh').flatMap(({ code }) => code.split('\n'))
  const options = (line: string) =>
    [...line.matchAll(/--(\w+) (\S+)/gu)].map(([, name, value]) => [name, value])
  return lines
    .filter((line) => line.includes('aex connector approve'))
    .map((line) => Object.fromEntries(options(line)) as Record<string, string>)
}

/** An agent in a folder of its own, registered as `aex agent register` does where a connector is set. */
async function registered(world: World, org: string): Promise<void> {
  const place = join(folder, org.replace('org_', ''))
  rmSync(place, { recursive: true, force: true })
  const identity = { organizationId: org, agentId: org.replace('org_', 'agent_') }
  const { made } = await createAgentFolder(place, { identity })
  const organization = { organization_id: org }
  await provision(world, '/organizations', { ...organization, name: org })
  const client = await provision(world, '/clients', { ...organization, public_jwk: made.client.publicJwk })
  await setExchangeAccess(place, { baseUrl: world.url, clientId: String(client['client_id']) })
  await using agent = await connectFolder(place)
  await agent.register({
    implementation: 'docs',
    implementationVersion: '1.0.0',
    skillVersions: { skill_alignment: '1.0.0' },
    transportModes: ['native', 'ds_x'],
  })
}

test('[PKG-05] docs/data-spaces.md: the program with the simulator', { timeout: 120_000 }, async (t) => {
  await using world = await startWorld()
  for (const { org = '', connector, participant, endpoint } of approvals()) {
    await registered(world, org)
    const organization = { organization_id: org }
    const connection = { connector_id: connector, participant_id: participant, endpoint }
    await provision(world, '/connectors', { ...organization, ...connection })
  }
  assert.deepEqual(await run(t, 'The same in TypeScript'), [
    'seats validated',
    'seats checked',
    'seats sealed',
    'seats receipt_accepted',
    'seats published',
    'seats accepted',
    'cars opened it over ds_x',
    'cars said received, opened',
    'blocked by the exchange false',
    'blocked by our data address true',
    'cars cannot open it: content_unavailable',
  ])
})

test('packages/sdk/README.md: the program', { timeout: 120_000 }, async (t) => {
  await using world = await startWorld()
  for (const org of ['org_seats', 'org_cars']) await registered(world, org)
  const author = { by: { organizationId: 'org_cars', agentId: 'agent_cars' }, now: new Date() }
  const policy = makersOf(() => author).policyEnvelope({ to: 'org_seats', purpose: 'alignment' })
  const { files } = await openAgentFolder(join(folder, 'cars'))
  await setAgentDefaults(files.settings, { policy, skill: { id: 'skill_alignment', version: '1.0.0' } })
  assert.deepEqual(await run(t, '@agent-exchange/sdk', { page: SDK_README }), ['sent to agent_seats'])
})

test(
  'the programs for your own connector, of the page and of packages/edc',
  { timeout: 120_000 },
  async (t) => {
    const participants = [{ participantId: 'BPNL0000000SEATS' }]
    await using simulator = await startSimulator({ participants, stepMs: 20 })
    const { managementUrl, apiKey, participantId, protocolEndpoint } =
      simulator.participant('BPNL0000000SEATS')
    const [port] = await freePorts(1)
    const settings = {
      EDC_MANAGEMENT_URL: managementUrl,
      EDC_API_KEY: apiKey,
      EDC_PARTICIPANT: participantId,
      EDC_PROTOCOL_URL: protocolEndpoint,
    }
    Object.assign(process.env, settings)
    const change = (code: string) => code.replace('8085', String(port))
    const lines = await run(t, 'Check your own connector in TypeScript', { change })
    const checks = (all: readonly string[]) => all.map((line) => line.split(' ', 2).join(' '))
    assert.deepEqual(checks(lines), [
      'ok management_api',
      'ok clock',
      'ok api_version',
      'ok protocol_version',
      'ok data_plane',
      'ok participant_id',
      'ok dry_run',
      'ok access_policy',
    ])
    t.mock.restoreAll()
    const ofReadme = await run(t, '@agent-exchange/edc', { page: EDC_README })
    assert.deepEqual(checks(ofReadme), checks(lines))
    assert.ok(![...lines, ...ofReadme].join('\n').includes(apiKey))
  },
)

test('docs/data-spaces.md: no program is left out', () => {
  assert.deepEqual(
    snippetsOf(PAGE, 'ts').map(({ heading }) => heading),
    ['Before you start', 'The same in TypeScript', 'Check your own connector in TypeScript'],
  )
})

test('docs/data-spaces.md: the table of failures has each of them once', () => {
  const text = readFileSync(resolve(import.meta.dirname, '../../../../docs', PAGE), 'utf8')
  const [, table = ''] = text.split('| `cause.code`')
  const codes = [...table.matchAll(/^\| `(\w+)`/gmu)].map(([, code = '']) => code)
  assert.equal(codes.length, CONNECTOR_ERROR_CODES.length)
  assert.deepEqual(new Set(codes), new Set<string>(CONNECTOR_ERROR_CODES))
})
