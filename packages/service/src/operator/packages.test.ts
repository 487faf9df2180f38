import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  addKey,
  deliveryWorld,
  draftPackage,
  organizations,
  revokeKey,
  sendPackage,
  sendReceipt,
  sendRevocation,
  submit,
  type Organization,
} from '@agent-exchange/testkit'

const CANARY = 'CANARY-plaintext-of-a-package'

const setting = await deliveryWorld()
after(() => setting[Symbol.asyncDispose]())
const { world, receiver, sender, owner } = setting
const endpointId = await setting.endpoint()

interface Step {
  readonly at: string
  readonly kind: string
  readonly what: string
  readonly outcome: string
  readonly from: string
  readonly to?: string
  readonly package_id?: string
  readonly facts: Record<string, unknown>
}
type Items = readonly Record<string, unknown>[]

const read = async (path: string) => {
  const { status, body } = await world.operate('GET', path)
  assert.equal(status, 200, JSON.stringify(body))
  return body
}
const stepsOf = async (path: string) => (await read(path))['steps'] as readonly Step[]
const search = async (id: string) => (await read(`/search?id=${encodeURIComponent(id)}`))['items'] as Items
const kindsOf = async (id: string) => (await search(id)).map(({ kind }) => kind)

async function fetchContent(by: Organization, packageId: string): Promise<void> {
  const answer = await by.get(`/content/packages/${packageId}`)
  assert.equal(answer.status, 200, answer.text)
}

test('[AUD-01][EVT-12] the timeline of a package: receipts, events, webhooks, replays and evidence of all parties', async () => {
  receiver.reply = () => 400
  const draft = await draftPackage(sender, owner, { plaintext: Buffer.from(CANARY) })
  const { package_id: id, thread_id: threadId } = draft.metadata
  assert.equal((await submit(sender, draft)).status, 202)
  const [failed] = await setting.until((all) => all.some(({ state }) => state === 'failed'), 'failed')
  assert.ok(failed)
  receiver.reply = () => 204
  const replay = await world.operate('POST', `/deliveries/${failed.delivery_id}/replay`, { reason: 'mended' })
  assert.equal(replay.status, 201)
  await setting.until((all) => all.some(({ state }) => state === 'delivered'), 'delivered')
  await fetchContent(owner, id)
  assert.equal((await sendReceipt(owner, draft.metadata, 'received')).status, 201)
  assert.equal((await sendReceipt(owner, draft.metadata, 'opened')).status, 201)

  const shown = await read(`/packages/${id}`)
  assert.deepEqual(
    [shown['state'], shown['sender_org_id'], shown['recipient_org_id'], shown['is_complete']],
    ['opened', sender.organizationId, owner.organizationId, true],
  )
  const steps = shown['steps'] as readonly Step[]
  const shownSteps = steps.map(({ what }) => what)
  for (const wanted of [
    'Policy receipt accepted, approval by a person recorded',
    'Package accepted',
    'Webhook attempt 1: status 400',
    'Delivery replayed by an operator',
    'Webhook attempt 1 of a replay: status 204',
    'Content fetched',
    'Receipt: received',
    'Receipt: opened',
  ])
    assert.ok(shownSteps.includes(wanted), `${wanted} in ${JSON.stringify(shownSteps)}`)
  assert.deepEqual(
    steps.map(({ at }) => at),
    steps.map(({ at }) => at).toSorted(),
  )
  const accepted = steps.find(({ what }) => what === 'Package accepted')
  assert.deepEqual([accepted?.from, accepted?.to], [sender.organizationId, 'exchange'])
  const events = steps.filter(
    ({ kind, what }) => kind === 'notification' && what.includes('package.accepted'),
  )
  assert.deepEqual(
    new Map(events.map(({ to, outcome }) => [to, outcome])),
    new Map([
      [owner.organizationId, 'good'],
      [sender.organizationId, 'neutral'],
    ]),
  )
  const replayed = steps.find(({ what }) => what === 'Delivery replayed by an operator')
  assert.deepEqual([replayed?.facts['operator'], replayed?.facts['reason']], ['admin', 'mended'])

  // Positions have no gap: an operator sees the entries of all parties.
  const entries = steps.flatMap(
    ({ facts }) => (facts['entries'] ?? []) as { position: number; hash: string }[],
  )
  const positions = entries.map(({ position }) => position).toSorted((a, b) => a - b)
  assert.deepEqual(
    positions,
    positions.map((_, index) => index + 1),
  )
  const evidence = await sender.get(`/v1/audit/packages/${id}`)
  const hashes = new Set(entries.map(({ hash }) => hash))
  for (const entry of evidence.body['entries'] as { chain: { hash: string } }[])
    assert.ok(hashes.has(entry.chain.hash))

  const thread = await read(`/threads/${threadId}`)
  assert.deepEqual(thread['steps'], (await read(`/packages/${id}`))['steps'])
  assert.deepEqual(
    [thread['organizations'], thread['package_count']],
    [[sender.organizationId, owner.organizationId], 1],
  )
  assert.doesNotMatch(JSON.stringify([shown, thread]), /CANARY|ciphertext|reason_detail|"signature"/)
})

test('[PKG-10][ID-04] revocations and changes of the keys that signed are steps, in order of time', async () => {
  const signer = await world.organization('signer')
  const { metadata } = await sendPackage(signer, owner)
  const next = await addKey(signer, 'signing', { replaces: signer.signing.keyId })
  const renewed = { ...signer, signing: next }
  assert.equal((await sendRevocation(renewed, metadata)).status, 200)
  assert.equal((await revokeKey(signer, signer.signing.keyId, world.clock.now())).status, 200)
  const steps = await stepsOf(`/packages/${metadata.package_id}`)
  const changes = steps.filter(({ kind, what }) => kind === 'key_event' || what === 'Package revoked')
  assert.deepEqual(
    changes.map(({ what, facts }) => [what, facts['key_id']]),
    [
      ['Key registered', next.keyId],
      ['Key retiring', signer.signing.keyId],
      ['Package revoked', next.keyId],
      ['Key revoked', signer.signing.keyId],
    ],
  )
  assert.doesNotMatch(JSON.stringify(steps), /A newer one follows/)
})

test('a thread is read in pages of packages, and an unknown one is not found', async () => {
  const first = await sendPackage(sender, owner)
  const threadId = first.metadata.thread_id
  for (let index = 0; index < 2; index++) await sendPackage(sender, owner, { threadId })
  const page = await read(`/threads/${threadId}?limit=2`)
  const rest = await read(`/threads/${threadId}?limit=2&after=${String(page['next_cursor'])}`)
  assert.deepEqual(
    [(page['packages'] as Items).length, (rest['packages'] as Items).length, rest['has_more']],
    [2, 1, false],
  )
  for (const path of ['/threads/thread_none', '/packages/pkg_none'])
    assert.equal((await world.operate('GET', path)).status, 404)
  assert.equal((await world.operate('GET', `/threads/${threadId}?limit=51`)).status, 422)
  assert.equal((await world.operate('GET', `/threads/${threadId}?after=x`)).status, 400)
})

test('an object is found by any of its ids, and by the ids of what belongs to it', async () => {
  receiver.reply = () => 204
  const correlationId = `corr_${'7'.repeat(32)}`
  const draft = await draftPackage(sender, owner)
  const { package_id: id, thread_id, policy_receipt_id } = draft.metadata
  assert.equal((await submit(sender, draft, { correlationId })).status, 202)
  assert.equal((await sendReceipt(owner, draft.metadata, 'received')).status, 201)
  const [receipt] = await world.sql`select receipt_id from package_receipt where package_id = ${id}`
  const [notification] = await world.sql`
    select notification_id, event_id from notification where package_id = ${id} and organization_id = ${owner.organizationId}`
  const [delivery] = await world.sql`select delivery_id from delivery where package_id = ${id}`
  for (const [wanted, kind] of [
    [id, 'package'],
    [thread_id, 'thread'],
    [policy_receipt_id, 'policy_receipt'],
    [receipt?.['receipt_id'], 'package_receipt'],
    [notification?.['notification_id'], 'notification'],
    [delivery?.['delivery_id'], 'delivery'],
    [correlationId, 'correlation_id'],
    [sender.agentId, 'agent'],
    [sender.organizationId, 'organization'],
    [sender.clientId, 'client'],
    [endpointId, 'webhook_endpoint'],
  ] as const)
    assert.deepEqual(await kindsOf(String(wanted)), [kind], String(wanted))
  const events = await search(String(notification?.['event_id']))
  assert.deepEqual(
    new Set(
      events.map(({ kind, organization_id, package_id }) => [kind, organization_id, package_id].join(' ')),
    ),
    new Set([owner, sender].map(({ organizationId }) => `event ${organizationId} ${id}`)),
  )
  for (const none of [
    'pkg_none',
    'evt_',
    `evt_${'f'.repeat(32)}`,
    `evt_${'0'.repeat(32)}`,
    "' or 1=1 --",
    '%',
  ])
    assert.deepEqual(await search(none), [], none)
  assert.equal((await world.operate('GET', '/search')).status, 422)
  assert.equal((await world.operate('GET', `/search?id=${'x'.repeat(1_025)}`)).status, 422)
  assert.equal((await world.operate('GET', '/search?id=%00')).status, 422)
})

test('packages are listed newest first, by organization, agent, state and time, in pages', async () => {
  const [a, b] = await organizations(world, 'lista', 'listb')
  const before = world.clock.now()
  const sent: string[] = []
  for (let index = 0; index < 5; index++) {
    const [from, to] = index % 2 === 0 ? [a, b] : [b, a]
    const { metadata } = await sendPackage(from, to)
    sent.unshift(metadata.package_id)
    if (index === 0) assert.equal((await sendRevocation(a, metadata)).status, 200)
  }
  const ids = async (query: string) =>
    ((await read(`/packages?${query}`))['items'] as Items).map(({ package_id }) => package_id)
  assert.deepEqual(await ids('limit=5'), sent)
  for (const who of [`organization_id=${a.organizationId}`, `agent_id=${b.agentId}`])
    assert.deepEqual(await ids(who), sent, who)
  assert.deepEqual(await ids(`organization_id=${a.organizationId}&state=revoked`), sent.slice(-1))
  assert.deepEqual(await ids(`agent_id=${a.agentId}&organization_id=${sender.organizationId}`), [])
  assert.deepEqual(await ids(`since=${before}&organization_id=${a.organizationId}`), sent)
  for (const who of ['', `&organization_id=${b.organizationId}`]) {
    assert.deepEqual(
      (await ids(`until=${before}${who}`)).filter((id) => sent.includes(String(id))),
      [],
    )
    const now = new Date(Date.parse(world.clock.now()) + 1_000).toISOString()
    assert.deepEqual(await ids(`since=${before}&until=${now}${who}`), sent)
  }
  assert.deepEqual(await ids('agent_id=agent_none'), [])
  for (const who of ['', `organization_id=${a.organizationId}&`]) {
    const seen: unknown[] = []
    let next = ''
    for (let pages = 0; pages < 3; pages++) {
      const page = await read(`/packages?${who}limit=2${next}`)
      seen.push(...(page['items'] as Items).map(({ package_id }) => package_id))
      next = `&after=${String(page['next_cursor'])}`
    }
    assert.deepEqual(seen.slice(0, 5), sent)
  }
  const [listed] = (await read('/packages?limit=1'))['items'] as Items
  assert.deepEqual(
    Object.keys(listed ?? {}).filter((name) => /metadata|signature|edc/.test(name)),
    [],
  )
})
