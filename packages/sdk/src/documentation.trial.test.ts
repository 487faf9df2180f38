import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import {
  freePorts,
  sendPackage,
  startWorld,
  testAuthority,
  until,
  type Organization,
} from '@agent-exchange/testkit'
import { provision } from './agents.fixture.ts'
import { randomId } from './connection/random-id.ts'
import {
  linkPackages,
  snippetsOf,
  startProgram,
  type Program,
  type Snippet,
} from './documentation.fixture.ts'
import { connectFolder } from './node/connect-folder.ts'
import { createAgentFolder, setExchangeAccess } from './node/agent-folder.ts'
import { openSqliteInbox } from './node/sqlite-inbox.ts'
import { asRecipient } from './receive/stream.fixture.ts'

/** docs/receiving-webhooks.md: every program in it runs, against a real exchange that really delivers. */
const cleanup = new AsyncDisposableStack()
after(() => cleanup.disposeAsync())
const authority = await testAuthority()
const tls = await authority.server()
const world = cleanup.use(
  await startWorld({ config: { role: 'all', webhook: { ca: authority.certificate, allowPrivate: true } } }),
)
const sender = await world.organization('sender')
const snippets = snippetsOf('receiving-webhooks.md', 'ts')

interface Desk {
  readonly folder: string
  readonly organizationId: string
  readonly url: string
  /** Something happens to the agent’s organization. */
  event(): Promise<string>
  run(name?: string, env?: Record<string, string>): Program
}

/** What the page expects to be there: an agent’s folder, a certificate, the packages; and the program itself. */
async function desk({ code }: Snippet): Promise<Desk> {
  const folder = mkdtempSync(join(tmpdir(), 'aex-docs-'))
  cleanup.defer(() => rmSync(folder, { recursive: true }))
  linkPackages(folder)
  writeFileSync(join(folder, 'cert.pem'), tls.certificate)
  writeFileSync(join(folder, 'key.pem'), tls.key, { mode: 0o600 })
  const identity = { organizationId: randomId('org_docs'), agentId: randomId('agent_docs') }
  const place = join(folder, 'aex-agent')
  const { made, keys } = await createAgentFolder(place, { identity })
  const organization = { organization_id: identity.organizationId }
  await provision(world, '/organizations', { ...organization, name: 'docs' })
  const client = await provision(world, '/clients', { ...organization, public_jwk: made.client.publicJwk })
  await setExchangeAccess(place, { baseUrl: world.url, clientId: String(client['client_id']) })
  await using agent = await connectFolder(place)
  await agent.register({ implementation: 'docs', implementationVersion: '1.0.0' })
  const recipient: Organization = await asRecipient({ identity, keys })
  const [port] = await freePorts(1)
  // Ports and names differ from the page’s; everything else is as it stands there.
  const program = code
    .replaceAll('agent.example:8443', `localhost:${port}`)
    .replaceAll('.listen(8443)', `.listen(${port}, '127.0.0.1')`)
    .replaceAll('8443', String(port))
  writeFileSync(join(folder, 'snippet.ts'), program)
  return {
    folder,
    organizationId: identity.organizationId,
    url: `https://localhost:${port}/hooks/exchange`,
    event: async () => (await sendPackage(sender, recipient)).metadata.package_id,
    run: (name = 'snippet.ts', env = {}) => cleanup.use(startProgram(folder, name, env)),
  }
}

const endpoints = async ({ organizationId }: Desk) =>
  (await world.sql`select 1 from webhook_endpoint where organization_id = ${organizationId}`).length

/** Registers, is told of one event by webhook, and says so. */
async function receives(at: Desk, program: Program): Promise<void> {
  await until('an endpoint', () => endpoints(at), { limitMs: 60_000 })
  const packageId = await at.event()
  await program.says(new RegExp(`^1 package.accepted ${packageId}$`, 'm'))
  const delivered = () => world.sql`
    select 1 from delivery where organization_id = ${at.organizationId} and state = 'delivered'`
  await until('delivered by webhook', async () => (await delivered()).length === 1)
}

const HARNESS = `
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { toNodeListener } from '@agent-exchange/sdk/node'
import application from './snippet.ts'
const tls = { cert: readFileSync('cert.pem'), key: readFileSync('key.pem') }
createServer(tls, toNodeListener(application.fetch)).listen(Number(process.argv[2] ?? PORT), '127.0.0.1')
`

/** What each program has to do, by the heading that it stands under. */
const TRIALS: Readonly<Record<string, (snippet: Snippet) => Promise<void>>> = {
  async 'Start with node:https'(snippet) {
    const at = await desk(snippet)
    await receives(at, at.run())
  },
  async Fastify(snippet) {
    const at = await desk(snippet)
    await receives(at, at.run())
  },
  async 'Runtimes that call fetch'(snippet) {
    const at = await desk(snippet)
    writeFileSync(join(at.folder, 'runtime.ts'), HARNESS.replace('PORT', new URL(at.url).port))
    await receives(at, at.run('runtime.ts'))
  },
  async 'Without an address: polling'(snippet) {
    const at = await desk(snippet)
    const packageId = await at.event()
    const program = at.run()
    await program.says(new RegExp(`^1 package.accepted ${packageId}$`, 'm'))
    program.terminate()
    assert.equal(await program.end(), 0, program.said())
  },
  async 'Exactly once'(snippet) {
    const at = await desk(snippet)
    const packageId = await at.event()
    at.run()
    await using inbox = openSqliteInbox(join(at.folder, 'aex-agent', 'inbox.db'))
    await until('processed', async () => (await inbox.list('processed', 9)).length === 1, { limitMs: 60_000 })
    const rows = inbox.database.prepare('select package_id, state from arrival').all()
    assert.deepEqual(
      rows.map((row) => ({ ...row })),
      [{ package_id: packageId, state: 'accepted' }],
    )
  },
  async 'Events that your handler cannot process'(snippet) {
    const at = await desk(snippet)
    await using inbox = openSqliteInbox(join(at.folder, 'aex-agent', 'inbox.db'))
    const event = { eventId: 'evt_1', notificationId: 'ntf_1', sequence: 1, body: '{}' }
    await inbox.store(event, 'webhook', world.clock.now())
    await inbox.setAside('evt_1', world.clock.now(), 'RangeError: no such site')
    const program = at.run()
    assert.equal(await program.end(), 0, program.said())
    assert.match(program.said(), /^set aside: 1 evt_1 RangeError: no such site$/m)
    assert.equal((await inbox.next())?.eventId, 'evt_1')
  },
  async 'Why was it refused?'(snippet) {
    const at = await desk(snippet)
    const program = at.run()
    assert.equal(await program.end(), 0, program.said())
    assert.match(program.said(), /^401 content-digest: .*lacks a field/m)
  },
  async 'Without the SDK'(snippet) {
    const at = await desk(snippet)
    await using agent = await connectFolder(join(at.folder, 'aex-agent'))
    const program = at.run('snippet.ts', {
      AEX_URL: world.url,
      ACCESS_TOKEN: await agent.token(),
      ORGANIZATION_ID: at.organizationId,
    })
    await until(
      'it serves',
      () =>
        fetch(at.url).then(
          () => true,
          (error: Error) => !/ECONNREFUSED/.test(String(error.cause)),
        ),
      { limitMs: 60_000 },
    )
    await agent.context.connection.call('createWebhookEndpoint', { body: { url: at.url, event_types: [] } })
    await at.event()
    await program.says(/^stored 1 package\.accepted$/m)
  },
}

test('[EVT-14] every program of the page on receiving is tried', () => {
  assert.deepEqual(
    snippets.map(({ heading }) => heading),
    Object.keys(TRIALS),
  )
})

for (const snippet of snippets) {
  test(`docs/receiving-webhooks.md: ${snippet.heading}`, { timeout: 120_000 }, async () => {
    await TRIALS[snippet.heading]?.(snippet)
  })
}
