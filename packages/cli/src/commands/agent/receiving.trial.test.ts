import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { connectFolder, createTlsFetch } from '@agent-exchange/sdk/node'
import { freePorts, startWorld, testAuthority, type TestAuthority, type World } from '@agent-exchange/testkit'
import { aexHere, aexRunning, documentOf, fails, succeeds } from '../../aex-here.fixture.ts'
import { startWebhookServer } from '../../agent/webhook-server.ts'
import { madeAgent, packageBetween, temporaryFolder } from './agents.fixture.ts'

const folder = temporaryFolder()
let world: World
let authority: TestAuthority
let [acme, bolt] = ['', '']
before(async () => {
  authority = await testAuthority()
  world = await startWorld({
    config: { role: 'all', webhook: { ca: authority.certificate, allowPrivate: true } },
  })
  acme = await madeAgent(world, 'acme', folder.path('acme'))
  bolt = await madeAgent(world, 'bolt', folder.path('bolt'))
  const { certificate, key } = await authority.server()
  writeFileSync(folder.path('cert.pem'), certificate)
  writeFileSync(folder.path('key.pem'), key)
  writeFileSync(folder.path('ca.pem'), authority.certificate)
})
after(async () => {
  await world[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

const secured = ['--cert', folder.path('cert.pem'), '--key', folder.path('key.pem')]

const accepted = (packageId: string) => new RegExp(`package\\.accepted {2}${packageId} {2}accepted`)

test('inbox shows what waits, as often as it is asked; take takes it once and in order, and says so', async () => {
  const [first, second] = [await packageBetween(acme, bolt), await packageBetween(acme, bolt)]
  const look = ['agent', 'inbox', '--dir', bolt]
  const looked = await documentOf<{ events: object[]; pending: number }>(...look)
  assert.deepEqual([looked.events.length, looked.pending], [2, 2])
  assert.deepEqual(await documentOf(...look), looked)
  const said = await succeeds(...look)
  assert.match(said, /^#1 .*\n#2 .*\n2 waiting; nothing is missing up to #2\n/)
  assert.ok(said.endsWith(`  process them  npx aex agent receive --dir ${bolt}\n`))

  const { events, ...position } = await documentOf<{ events: { sequence: number; package_id: string }[] }>(
    'agent',
    'receive',
    '--dir',
    bolt,
  )
  assert.deepEqual(
    events.map(({ sequence, package_id }) => [sequence, package_id]),
    [
      [1, first.packageId],
      [2, second.packageId],
    ],
  )
  assert.deepEqual(
    { ...position, directory_version: undefined },
    {
      polled_through: 2,
      last_contiguous_sequence: 2,
      highest_sequence: 2,
      pending: 0,
      set_aside: 0,
      gaps: [],
      directory_version: undefined,
    },
  )
  const [row] = await world.sql`select count(*)::int as count from notification_acknowledgement`
  assert.equal(row?.['count'], 2)
  assert.equal(await succeeds('agent', 'receive', '--dir', bolt), '0 received; nothing is missing up to #2\n')
  assert.equal(await succeeds(...look), '0 waiting; nothing is missing up to #2\n')
})

test('listen without an address polls, and prints one event a line for programs', async () => {
  await using listening = aexRunning('agent', 'listen', '--every', '1', '--json', '--dir', bolt)
  await listening.until(/Polling for events/)
  const { packageId } = await packageBetween(acme, bolt)
  await listening.until(new RegExp(packageId))
  const { code, stdout } = await listening.interrupt()
  assert.equal(code, 0)
  const [event, ...others] = stdout.trimEnd().split('\n')
  assert.deepEqual(others, [])
  assert.equal((JSON.parse(event ?? '') as { package_id: string }).package_id, packageId)
})

test('[EVT-14] listen takes signed webhooks over TLS, refuses others, and the doctor reaches it', async () => {
  const [port = 0] = await freePorts(1)
  const url = `https://localhost:${port}/events`
  const where = ['--public-url', url, '--port', String(port), ...secured]
  await using listening = aexRunning('agent', 'listen', ...where, '--dir', bolt)
  await listening.until(/Listening for webhooks at \S+ \(\S+\)\. Ctrl-C ends it/)
  const { packageId } = await packageBetween(acme, bolt)
  await listening.until(accepted(packageId))
  await listening.until(/^The address leads here\.$/m)
  await listening.until(/^Webhooks arrive\.$/m)
  const ended = await delivered()
  assert.equal(ended.length, 1, 'it came by webhook, not by polling')

  // A stranger's post is refused, and said so on standard error alone.
  await stranger(port)
  await listening.until(/refused a webhook \(4\d\d\)/)
  const { stdout } = await listening.interrupt()
  assert.equal(stdout.trimEnd().split('\n').length, 1)

  const down = await aexHere('agent', 'doctor', '--dir', bolt)
  assert.equal(down.code, 1)
  assert.match(
    down.stdout,
    /✖ webhook: Nothing usable answers at https:\/\/localhost:\d+\/events \(ECONNREFUSED\)/,
  )

  // It is remembered: nothing is registered a second time.
  await using again = aexRunning('agent', 'listen', ...where, '--dir', bolt)
  await again.until(/Listening for webhooks/)
  const [endpoints] = await world.sql`select count(*)::int as count from webhook_endpoint`
  assert.equal(endpoints?.['count'], 1)
})

async function endpointsOf(organizationId: string): Promise<string[]> {
  const rows = await world.sql`
    select url from webhook_endpoint where organization_id = ${organizationId} order by created_at`
  return rows.map(({ url }) => String(url))
}

/** Deliveries that the exchange saw answered with success. */
async function delivered(): Promise<readonly object[]> {
  for (let tries = 0; tries < 500; tries++) {
    const rows = await world.sql`select delivery_id from delivery where state = 'delivered'`
    if (rows.length > 0) return rows
    await wait(10)
  }
  return []
}

async function stranger(port: number): Promise<void> {
  await using tls = createTlsFetch({ ca: authority.certificate })
  const { status } = await tls.fetch(`https://localhost:${port}/events`, { method: 'POST', body: '{}' })
  assert.ok(status >= 400 && status < 500, String(status))
}

test('the doctor reaches a receiver behind a private authority only with --ca', async () => {
  const [port = 0] = await freePorts(1)
  await using agent = await connectFolder(acme)
  await using receiver = agent.receiver({ inbox: agent.inbox(), handle: async () => undefined })
  await receiver.start()
  const files = { cert: folder.path('cert.pem'), key: folder.path('key.pem') }
  await using open = new AsyncDisposableStack()
  open.use(await startWebhookServer(receiver.handler, { host: '127.0.0.1', port, ...files }))
  await receiver.ensureEndpoint(`https://localhost:${port}/events`)

  const unknown = await aexHere('agent', 'doctor', '--dir', acme)
  assert.equal(unknown.code, 1)
  assert.match(unknown.stdout, /✖ webhook: .*\(UNABLE_TO_\w+\)\. Its certificate is not trusted here/)
  const known = await succeeds('agent', 'doctor', '--dir', acme, '--ca', folder.path('ca.pem'))
  assert.match(known, /✔ webhook: https:\/\/localhost:\d+\/events answers/)
})

test('listen says that the address leads elsewhere, and that events come without webhooks', async () => {
  const [port = 0, nowhere = 0] = await freePorts(2)
  const url = `https://localhost:${nowhere}/events`
  const where = ['--public-url', url, '--port', String(port), '--every', '1', ...secured]
  await using listening = aexRunning('agent', 'listen', ...where, '--dir', acme)
  await listening.until(
    /Nothing listens at localhost:\d+ \(ECONNREFUSED\)\. Let it forward to port \d+ of this machine/,
  )
  await listening.until(/Listening for webhooks/)
  const { packageId } = await packageBetween(bolt, acme)
  await listening.until(accepted(packageId))
  await listening.until(/^No webhook has arrived yet; this event came by polling instead/m)
})

test('what cannot be listened on is said in a sentence', async () => {
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  const { port } = taken.address() as { port: number }
  const at = ['--public-url', 'https://localhost/events', '--port', String(port), '--dir', bolt]
  assert.match(await fails('agent', 'listen', ...at), /Port \d+ of 127\.0\.0\.1 cannot be used/)
  taken.close()
  assert.match(
    await fails('agent', 'listen', ...at, '--cert', folder.path('cert.pem')),
    /both --cert and --key/,
  )
  const swapped = ['--cert', folder.path('key.pem'), '--key', folder.path('cert.pem')]
  const said = await fails('agent', 'listen', ...at, ...swapped)
  assert.match(said, /not a certificate and its private key/)
  assert.doesNotMatch(said, /BEGIN/)
  const clear = ['--public-url', 'http://localhost/events', '--port', String(port), '--dir', bolt]
  const registered = await endpointsOf('org_bolt')
  assert.match(await fails('agent', 'listen', ...clear), /https/)
  // What was refused has not made the folder forget the address that it had.
  const [url = ''] = registered
  const { port: free } = new URL(url)
  await using again = aexRunning(
    'agent',
    'listen',
    '--public-url',
    url,
    '--port',
    free,
    ...secured,
    '--dir',
    bolt,
  )
  await again.until(/Listening for webhooks/)
  assert.deepEqual(await endpointsOf('org_bolt'), registered)
})
