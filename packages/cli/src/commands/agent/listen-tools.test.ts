import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { text } from 'node:stream/consumers'
import type { NotificationEnvelope } from '@agent-exchange/protocol'
import { createAgentFolder } from '@agent-exchange/sdk/node'
import { freePorts, startWorld, testAuthority, type World } from '@agent-exchange/testkit'
import { aexHere, aexRunning, fails } from '../../aex-here.fixture.ts'
import { createTestReceiver, sendTestWebhook } from '../../agent/test-webhooks.ts'
import { madeAgent, packageBetween, temporaryFolder } from './agents.fixture.ts'

const folder = temporaryFolder()
const cleanup = new AsyncDisposableStack()
let world: World
let [acme, bolt] = ['', '']
before(async () => {
  const authority = await testAuthority()
  world = cleanup.use(
    await startWorld({
      config: { role: 'all', webhook: { ca: authority.certificate, allowPrivate: true } },
    }),
  )
  acme = await madeAgent(world, 'acme', folder.path('acme'))
  bolt = await madeAgent(world, 'bolt', folder.path('bolt'))
})
after(async () => {
  await cleanup.disposeAsync()
  folder[Symbol.dispose]()
})

interface Hook extends AsyncDisposable {
  readonly url: string
  readonly bodies: NotificationEnvelope[]
  /** The next statuses; 200 afterwards. */
  readonly statuses: number[]
}

/** A developer's own server. */
async function startHook(): Promise<Hook> {
  const bodies: NotificationEnvelope[] = []
  const statuses: number[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      bodies.push(JSON.parse(body) as NotificationEnvelope)
      response.writeHead(statuses.shift() ?? 200).end('ignored')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    bodies,
    statuses,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

test('[EVT-14] listen passes each event on until it is answered with 2xx, and prints it then', async () => {
  await using hook = await startHook()
  hook.statuses.push(500)
  const { packageId } = await packageBetween(acme, bolt)
  await using listening = aexRunning(
    'agent',
    'listen',
    '--dir',
    bolt,
    '--every',
    '1',
    '--forward-to',
    hook.url,
  )
  await listening.until(new RegExp(`package\\.accepted {2}${packageId}`))
  const { stdout, stderr } = await listening.interrupt()
  assert.match(stderr, /attempt 1 for evt_\S+: .*answered with 500/)
  assert.match(stderr, /answered with 200/)
  assert.equal(stdout.match(new RegExp(packageId, 'g'))?.length, 1)
  assert.deepEqual(
    hook.bodies.slice(0, 2).map(({ package_id }) => package_id),
    [packageId, packageId],
  )
})

test('events leave the machine by https only', async () => {
  for (const url of [
    'http://hooks.example/in',
    'ftp://localhost/',
    'localhost:3000',
    'http://127.0.0.1.example/',
  ])
    assert.match(await fails('agent', 'listen', '--dir', bolt, '--forward-to', url), /Use an https address/)
})

test('[EVT-05] trigger signs with the key of listen --test; a forged signature shows its base', async () => {
  const [port] = await freePorts(1)
  const events: NotificationEnvelope[] = []
  const refused: string[] = []
  {
    using receiver = await createTestReceiver({
      dir: bolt,
      url: `http://127.0.0.1:${port}/events`,
      organizationId: 'org_bolt',
      onEvent: (event) => void events.push(event),
      onRejected: (error) => void refused.push(String(error.details['signatureBase'])),
    })
    const { startWebhookServer } = await import('../../agent/webhook-server.ts')
    await using _ = await startWebhookServer(receiver.handler, { host: '127.0.0.1', port: port ?? 0 })
    const key = folder.path('bolt/test-webhook-key.json')
    assert.equal(statSync(key).mode & 0o077, 0)
    const { code, stdout } = await aexHere(
      'agent',
      'test-event',
      'package.received',
      '--dir',
      bolt,
      '--package',
      'pkg_tried',
    )
    assert.equal(code, 0)
    assert.match(stdout, /answered with 204/)
    assert.deepEqual(
      events.map(({ event_type, package_id, state }) => [event_type, package_id, state]),
      [['package.received', 'pkg_tried', 'received']],
    )
    assert.match(await fails('agent', 'test-event', 'package.accepted', '--forge', '--dir', bolt), /refused/)
    assert.match(refused[0] ?? '', /^"@method": POST\n"@authority": 127\.0\.0\.1:/)
    assert.equal(events.length, 1)
    // The key of one agent's listener signs nothing for another organization.
    writeFileSync(folder.path('acme/test-webhook-key.json'), readFileSync(key))
    assert.match(await fails('agent', 'test-event', 'package.accepted', '--dir', acme), /refused/)
  }
  assert.equal(existsSync(folder.path('bolt/test-webhook-key.json')), false)
  assert.match(await fails('agent', 'test-event', 'package.accepted', '--dir', bolt), /No listener waits/)
})

test('[EVT-05] listen --test prints and forwards test events, and explains a refusal', async () => {
  await using hook = await startHook()
  const [port = 0] = await freePorts(1)
  const dir = folder.path('offline')
  await createAgentFolder(dir, { identity: { organizationId: 'org_offline', agentId: 'agent_offline' } })
  await using listening = aexRunning(
    'agent',
    'listen',
    '--test',
    '--dir',
    dir,
    '--port',
    String(port),
    '--forward-to',
    hook.url,
  )
  await listening.until(/Listening for test events/)
  const event: NotificationEnvelope = {
    notification_id: 'ntf_1',
    event_id: 'evt_1',
    event_type: 'package.accepted',
    protocol_version: 'svc/1.0',
    sequence: 1,
    occurred_at: new Date().toISOString(),
    organization_id: 'org_offline',
    package_id: 'pkg_1',
    thread_id: 'thread_1',
    state: 'accepted',
    transport_mode: 'native',
    content_digest: 'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:',
    correlation_id: 'corr_1',
  }
  assert.equal(await sendTestWebhook({ dir, event, forge: false }), 204)
  await listening.until(/answered with 200/)
  assert.equal(hook.bodies[0]?.event_id, 'evt_1')
  assert.equal(await sendTestWebhook({ dir, event: { ...event, event_id: 'evt_2' }, forge: true }), 401)
  await listening.until(/signature base \(RFC 9421 section 2\.5\), as received:\n {4}"@method": POST\n/)
})

test('[EVT-05] a receiver of the exchange refuses the test key', async () => {
  using receiver = await createTestReceiver({
    dir: bolt,
    url: 'http://127.0.0.1:1/events',
    organizationId: 'org_bolt',
    onEvent: () => undefined,
    onRejected: () => undefined,
  })
  assert.ok(receiver)
  const [port = 0] = await freePorts(1)
  const url = `http://127.0.0.1:${port}/events`
  const key = JSON.parse(readFileSync(folder.path('bolt/test-webhook-key.json'), 'utf8')) as object
  writeFileSync(folder.path('bolt/test-webhook-key.json'), JSON.stringify({ ...key, url }))
  const { connectFolder } = await import('@agent-exchange/sdk/node')
  const { startWebhookServer } = await import('../../agent/webhook-server.ts')
  await using agent = await connectFolder(bolt)
  const real = agent.receiver({ inbox: agent.inbox(), handle: () => undefined, publicUrl: url })
  await using _ = await startWebhookServer(real.handler, { host: '127.0.0.1', port })
  assert.match(
    await fails('agent', 'test-event', 'package.accepted', '--dir', bolt),
    /The listener refused the event/,
  )
  assert.equal((await agent.inbox().list('pending', 9)).filter((e) => e.eventId.includes('test')).length, 0)
})
