import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { sendPackage, startReceiver, startWorld, until, type Organization } from '@agent-exchange/testkit'
import { aexHere as aex, documentOf as json } from '../../aex-here.fixture.ts'

const receiver = await startReceiver()
const world = await startWorld({
  config: { role: 'all', webhook: { ca: receiver.authority.certificate, allowPrivate: true } },
})
const folder = await mkdtemp(join(tmpdir(), 'aex-cli-'))
after(async () => {
  await rm(folder, { recursive: true })
  await world[Symbol.asyncDispose]()
  await receiver[Symbol.asyncDispose]()
})
const created = await world.operate('POST', '/operators', { name: 'nightshift', role: 'administrator' })
await writeFile(join(folder, 'operator-token'), `${String(created.body['token'])}\n`)
const env = { AEX_OPERATOR_URL: world.operatorUrl, AEX_OPERATOR_TOKEN: '', AEX_DATA_DIR: folder }
Object.assign(process.env, env)

const sender = await world.organization('sender')
type Document = Record<string, unknown>
const itemsOf = async (...args: string[]) => (await json(...args))['items'] as Document[]

async function ownerWithEndpoint(name: string): Promise<{ owner: Organization; id: string }> {
  const owner = await world.organization(name)
  const { body } = await owner.post('/v1/webhook-endpoints', { url: receiver.url, event_types: [] })
  return { owner, id: String(body['webhook_endpoint_id']) }
}

const inState = (endpointId: string, state: string, count: number) =>
  until(`${count} ${state}`, async () => {
    const found = await itemsOf('delivery', 'list', '--endpoint', endpointId, '--state', state)
    return found.length === count ? found : undefined
  })

test('[EVT-08][EVT-12][O-19] an endpoint that is gone: alert, what it missed, and one command that brings all of it back', async () => {
  receiver.reply = () => 410
  const { owner, id } = await ownerWithEndpoint('gone')
  await sendPackage(sender, owner)
  const [failed] = await inState(id, 'failed', 1)
  const disabled = await aex('endpoint', 'list', '--status', 'disabled')
  assert.match(
    disabled.stdout,
    new RegExp(`${id} +${owner.organizationId} +disabled +the receiver answered 410 Gone`),
  )
  const alerts = await aex('alert', 'list', '--org', owner.organizationId)
  assert.match(alerts.stdout, /^ALERT_ID +RAISED_AT +KIND/)
  assert.match(
    alerts.stdout,
    new RegExp(`endpoint_disabled +${owner.organizationId} +${id} +${String(failed?.['delivery_id'])}`),
  )
  for (let index = 0; index < 3; index++) await sendPackage(sender, owner)
  const refused = await aex('delivery', 'replay', String(failed?.['delivery_id']), '--reason', 'r')
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, new RegExp(`endpoint_disabled[^]*aex endpoint enable ${id} --replay --reason`))

  receiver.reply = () => 204
  const enabled = await aex('endpoint', 'enable', id)
  assert.equal(enabled.code, 0, enabled.stderr)
  assert.match(enabled.stderr, /It missed 4 while it was disabled/)
  const noReason = await aex('endpoint', 'enable', id, '--replay')
  assert.match(noReason.stderr, /A replay needs --reason/)
  const before = receiver.received.length
  const replayed = await aex('endpoint', 'enable', id, '--replay', '--reason', 'receiver is back')
  assert.equal(replayed.code, 0, replayed.stderr)
  assert.match(replayed.stderr, /4 of 4 replayed/)
  await inState(id, 'delivered', 4)
  const { body } = await owner.get('/v1/notifications?limit=100')
  const stream = body['items'] as { event_id: string }[]
  const got = receiver.received.slice(before)
  assert.deepEqual(
    got.map(({ eventId }) => eventId).toSorted(),
    stream.map(({ event_id }) => event_id).toSorted(),
  )
  for (const { body: bytes, eventId } of got) {
    assert.deepEqual(
      JSON.parse(bytes.toString()),
      stream.find(({ event_id }) => event_id === eventId),
    )
  }
  assert.equal((await json('endpoint', 'enable', id, '--replay', '--reason', 'again'))['replayed'], 0)
})

test('[EVT-12] delivery show says why, what was tried, and both ends of a replay; the event keeps its id and bytes', async () => {
  receiver.reply = (_request, response) => void response.writeHead(400).end('no such tenant')
  const { owner, id } = await ownerWithEndpoint('shown')
  await sendPackage(sender, owner)
  const [failed] = await inState(id, 'failed', 1)
  const deliveryId = String(failed?.['delivery_id'])
  const shown = await aex('delivery', 'show', deliveryId)
  assert.match(shown.stdout, /^Failed for good after 1 attempt, last result: status 400\.\n/)
  assert.match(shown.stdout, /\nurl +https:\/\/localhost:\d+\/hook\n/)
  assert.match(
    shown.stdout,
    /\n\nAttempts\nATTEMPT +STARTED_AT +OUTCOME +STATUS +DURATION_MS +ADDRESS +TLS_VERSION +KEY_ID/,
  )
  assert.match(shown.stdout, /\n1 +\S+Z +failed +400 +[\d.]+ +127\.0\.0\.1\S* +TLSv1\.3 +key_/)
  assert.match(
    shown.stdout,
    /\n\nSignature base of attempt 1 [^]*\n {2}"@method": POST\n {2}"@authority": localhost:/,
  )

  receiver.reply = () => 204
  const sent = receiver.received.at(-1)
  const none = await aex('delivery', 'replay', deliveryId)
  assert.equal(none.code, 1)
  assert.match(none.stderr, /--reason/)
  const replay = await json('delivery', 'replay', deliveryId, '--reason', 'tenant made')
  const replayId = String(replay['delivery_id'])
  await inState(id, 'delivered', 1)
  const again = receiver.received.at(-1)
  assert.deepEqual([again?.deliveryId, again?.attempt, again?.eventId], [replayId, 1, sent?.eventId])
  assert.ok(sent && again?.body.equals(sent.body))

  const original = await aex('delivery', 'show', deliveryId)
  assert.match(original.stdout, /It was replayed, see below\./)
  assert.match(
    original.stdout,
    new RegExp(`\\n\\nReplays\\n.*\\n${replayId} +delivered +\\S+ +nightshift +tenant made`),
  )
  const made = await aex('delivery', 'show', replayId)
  assert.match(made.stdout, /^Delivered by attempt 1\.\n/)
  assert.match(
    made.stdout,
    new RegExp(`replay_of +${deliveryId}\\nreplay_actor +nightshift\\nreplay_reason +tenant made`),
  )
  const [entry] = await itemsOf('operator', 'log', '--target', deliveryId)
  assert.deepEqual(
    [
      entry?.['actor'],
      entry?.['action'],
      entry?.['reason'],
      Reflect.get(Object(entry?.['details']), 'delivery_id'),
    ],
    ['nightshift', 'delivery.replay', 'tenant made', replayId],
  )
  const twice = await aex('delivery', 'replay', deliveryId, '--reason', 'again')
  assert.match(twice.stderr, /invalid_state_transition[^]*has reached the receiver/)
})

test('a delivery that waits says when it is tried next, and what failed', async () => {
  receiver.reply = () => 500
  const { owner, id } = await ownerWithEndpoint('waits')
  await sendPackage(sender, owner)
  const waiting = await until('one attempt', async () =>
    (await itemsOf('delivery', 'list', '--endpoint', id)).find(
      (each) => each['attempt'] === 1 && !each['claim_id'],
    ),
  )
  const shown = await aex('delivery', 'show', String(waiting['delivery_id']))
  assert.match(
    shown.stdout,
    /^Retrying after 1 failed attempt, last result: status 500\. Next attempt: 20\S+Z\.\n/,
  )
  const listed = await aex('delivery', 'list', '--endpoint', id)
  assert.match(listed.stdout, /^dlv_\S+ +pending, retrying +1 +status 500 /mu)
  await json('endpoint', 'disable', id, '--reason', 'test')
  const held = await aex('delivery', 'show', String(waiting['delivery_id']))
  assert.match(held.stdout, /; its endpoint is disabled, so nothing is sent\.\n/)
})

test('[EVT-12] in bulk: a count first, then with --yes the replays, each logged', async () => {
  receiver.reply = () => 404
  const { owner, id } = await ownerWithEndpoint('bulk')
  for (let index = 0; index < 3; index++) await sendPackage(sender, owner)
  await inState(id, 'failed', 3)
  receiver.reply = () => 204
  const filter = ['--endpoint', id, '--state', 'failed', '--since', '1h', '--reason', 'route added']
  const dry = await aex('delivery', 'replay', ...filter)
  assert.equal(dry.code, 0, dry.stderr)
  assert.match(
    dry.stdout,
    new RegExp(`${id} +${owner.organizationId} +active +3\\n\\n3 can be replayed\\.\\nNothing was replayed`),
  )
  assert.equal((await itemsOf('delivery', 'list', '--endpoint', id)).length, 3)
  const done = await aex('delivery', 'replay', ...filter, '--yes')
  assert.match(done.stdout, /\n3 replayed\.\n$/)
  assert.match(done.stderr, /3 of 3 replayed/)
  await inState(id, 'delivered', 3)
  const log = (await itemsOf('operator', 'log')).filter((entry) => entry['reason'] === 'route added')
  assert.equal(log.length, 3)
  const rest = await json('delivery', 'replay', '--org', owner.organizationId, '--reason', 'r', '--yes')
  assert.deepEqual([rest['replayable'], rest['replayed'], rest['dry_run']], [0, 0, false])

  for (const [args, message] of [
    [['--reason', 'r'], /Give a delivery id, or filters/],
    [['dlv_x', '--org', 'org_x', '--reason', 'r'], /either a delivery id or filters/],
    [['--org', 'org_x', '--since', 'soon', '--reason', 'r'], /Give a UTC time/],
    [['--org', 'org_x', '--since', '2026-03-01T08:00', '--reason', 'r'], /Give a UTC time/],
    [['--org', 'org_x', '--state', 'pending', '--reason', 'r'], /Allowed choices are dead, failed/],
    [['dlv_x', '--reason', ' '], /Say why/],
  ] as const) {
    const wrong = await aex('delivery', 'replay', ...args)
    assert.equal(wrong.code, 1)
    assert.match(wrong.stderr, message)
  }
})

test('[EVT-13] keys: listed with their endpoints, rotated, revoked', async () => {
  receiver.reply = () => 204
  const { owner, id } = await ownerWithEndpoint('keys')
  const rotated = await json('keys', 'rotate', '--reason', 'yearly')
  const listed = (await json('keys', 'list'))['keys'] as Document[]
  const old = listed.find((key) => Number(key['endpoints']) > 0)
  assert.deepEqual([old?.['status'], listed[0]?.['key_id']], ['retiring', rotated['key_id']])
  const unexplained = await aex('keys', 'revoke', String(old?.['key_id']))
  assert.equal(unexplained.code, 1)
  const revoked = await json('keys', 'revoke', String(old?.['key_id']), '--reason', 'drill')
  const table = await aex('keys', 'list')
  assert.match(
    table.stdout,
    /^KEY_ID +STATUS +VALID_FROM +VALID_UNTIL +ENDPOINTS +REVOKED_AT +STANDBY +HELD_IN\n/,
  )
  assert.match(table.stdout, new RegExp(`${String(old?.['key_id'])} +revoked .* 0 +20`))
  const before = receiver.received.length
  await sendPackage(sender, owner)
  await inState(id, 'delivered', 1)
  const input = String(receiver.received[before]?.headers['signature-input'])
  assert.ok(input.includes(`keyid="${String(revoked['replacement_key_id'])}"`), input)
})
