import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  deliveryWorld,
  draftPackage,
  sendPackage,
  sendReceipt,
  submit,
  type Organization,
} from '@agent-exchange/testkit'
import { consoleClient } from './console-client.fixture.ts'

const CANARY = 'CANARY-plaintext-of-a-package'
const MARKUP = '<img/src=x/onerror=alert(1)>'
const MAXIMUM_PAGE_BYTES = 100_000

const setting = await deliveryWorld()
after(() => setting[Symbol.asyncDispose]())
const { world, receiver, sender, owner } = setting
const { sql } = world

const endpointId = await setting.endpoint()

async function signedIn(role: string) {
  const { body } = await world.operate('POST', '/operators', { name: `${role}-${Math.random()}`, role })
  const client = consoleClient(world.operatorUrl)
  assert.equal((await client.signIn(String(body['token']))).status, 303)
  return client
}
const viewer = await signedIn('viewer')
const operator = await signedIn('operator')

async function pageOf(path: string, client = operator): Promise<string> {
  const { status, text } = await client.get(path)
  assert.equal(status, 200, `${path}: ${text.slice(0, 2_000)}`)
  assert.ok(Buffer.byteLength(text) < MAXIMUM_PAGE_BYTES, `${path}: ${Buffer.byteLength(text)} bytes`)
  return text
}

/** A package whose webhook failed, and its delivery. */
async function failedPackage(from: Organization = sender) {
  receiver.reply = () => 400
  const known = new Set((await setting.deliveries()).map(({ delivery_id }) => delivery_id))
  const draft = await draftPackage(from, owner, { plaintext: Buffer.from(CANARY) })
  const answer = await submit(from, draft, { correlationId: MARKUP })
  assert.equal(answer.status, 202, answer.text)
  const all = await setting.until(
    (deliveries) =>
      deliveries.some(({ delivery_id, state }) => !known.has(delivery_id) && state === 'failed'),
    'failed',
  )
  const deliveryId = all.find(({ delivery_id }) => !known.has(delivery_id))?.delivery_id ?? ''
  return { draft, deliveryId, packageId: draft.metadata.package_id, threadId: draft.metadata.thread_id }
}

test('markup of agents, receivers and operators stays text on every page, and no page has plaintext', async () => {
  const { packageId, threadId, deliveryId, draft } = await failedPackage()
  await sendReceipt(owner, draft.metadata, 'received')
  await world.operate('POST', `/deliveries/${deliveryId}/replay`, { reason: MARKUP })
  // As if earlier releases had been less strict: what the schemas refuse today.
  await sql`
    update package set metadata = jsonb_set(jsonb_set(metadata::jsonb, '{skill_id}', to_jsonb(${MARKUP}::text)),
      '{content_type}', to_jsonb(${MARKUP}::text))::text, signing_key_id = ${MARKUP}, policy_receipt_id = ${MARKUP}
    where package_id = ${packageId}`
  await sql`
    update delivery_attempt set details = jsonb_set(jsonb_set(jsonb_set(details::jsonb, '{error}',
      to_jsonb(${MARKUP}::text)), '{signature_base}', to_jsonb(${MARKUP}::text)), '{error_class}',
      to_jsonb(${MARKUP}::text))::text where delivery_id = ${deliveryId}`
  await sql`update delivery_attempt set details = (details::jsonb - 'status')::text where delivery_id = ${deliveryId}`
  await sql`update webhook_endpoint set status_reason = ${MARKUP}, event_types = ${[MARKUP]}, url = ${`${receiver.url}?x="><script>alert(1)</script>`}
    where webhook_endpoint_id = ${endpointId}`
  const pages = [
    '/packages',
    `/packages/${packageId}`,
    `/threads/${threadId}`,
    '/deliveries',
    `/deliveries/${deliveryId}`,
    '/endpoints',
    `/endpoints/${endpointId}`,
    '/replay',
    `/search?id=${encodeURIComponent(MARKUP)}`,
    `/packages?organization_id=${encodeURIComponent(MARKUP)}`,
    `/deliveries?webhook_endpoint_id=${encodeURIComponent(MARKUP)}`,
    `/endpoints?organization_id=${encodeURIComponent(MARKUP)}`,
    `/replay?organization_id=${encodeURIComponent(MARKUP)}`,
  ]
  let shown = 0
  for (const path of pages) {
    const text = await pageOf(path)
    assert.doesNotMatch(text, /<img\/src|<script>alert|CANARY/u, path)
    if (text.includes('&lt;img/src=x/onerror=alert(1)&gt;')) shown++
  }
  assert.ok(shown >= 8, `${shown} pages show it as text`)
  await sql`update webhook_endpoint set status_reason = null, event_types = '{}', url = ${receiver.url}
    where webhook_endpoint_id = ${endpointId}`
})

test('[O-14] the pages of a package whose id is markup, a command or a path', async () => {
  receiver.reply = () => 204
  for (const id of ['<script>alert(1)<', '"onmouseover=alert(1)', '..;$(reboot)', '-1']) {
    const { metadata } = await sendPackage(sender, owner, {
      metadata: { package_id: id, policy_receipt_id: id },
    })
    const path = `/packages/${encodeURIComponent(id)}`
    for (const each of ['/packages', path, `/threads/${metadata.thread_id}`]) {
      const text = await pageOf(each)
      assert.ok(text.includes(`href="${path}"`) || each === path, each)
      assert.doesNotMatch(text, /<script>alert|"onmouseover=/u, each)
    }
    const found = await operator.get(`/search?id=${encodeURIComponent(id)}`)
    assert.ok(found.status === 200 || found.location === path, `${id} ${found.status} ${found.location}`)
  }
})

test('[EVT-12] a failed delivery is found, explained and replayed by forms; a replay needs a reason', async () => {
  const { deliveryId, packageId } = await failedPackage()
  const list = await pageOf('/deliveries?state=failed')
  assert.ok(list.includes(`href="/deliveries/${deliveryId}"`))
  const page = await pageOf(`/deliveries/${deliveryId}`)
  assert.match(page, /Failed for good after 1 attempt; the last result: status 400\./u)
  assert.match(page, /The receiver refused the event \(400\)/u)
  assert.match(page, /&quot;@method&quot;: POST/u)
  receiver.reply = () => 204
  const path = `/deliveries/${deliveryId}`
  const unexplained = await operator.submit(`${path}/replay`, { reason: ' ' }, path)
  assert.equal(unexplained.status, 422)
  assert.match(unexplained.text, /Nothing was changed/u)
  const done = await operator.submit(`${path}/replay`, { reason: 'mended' }, path)
  assert.match(done.location ?? '', /^\/deliveries\/dlv_/u)
  await setting.until(
    (all) =>
      all.some(({ delivery_id, state }) => state === 'delivered' && done.location?.endsWith(delivery_id)),
    'delivered',
  )
  assert.match(await pageOf(done.location ?? ''), /Delivered by attempt 1\./u)
  const timeline = await pageOf(`/packages/${packageId}`)
  assert.match(timeline, /Delivery replayed by an operator/u)
  assert.match(timeline, /Webhook attempt 1 of a replay: status 204/u)
  // Replaying again is refused with the reason.
  const again = await operator.submit(`${path}/replay`, { reason: 'again' }, path)
  assert.equal(again.status, 409)
  assert.match(again.text, /has reached the receiver/u)
})

test('[EVT-12] many: the count changes nothing, a reason is asked for, and what fails later is not part of it', async () => {
  for (let index = 0; index < 3; index++) await failedPackage()
  const path = `/replay?webhook_endpoint_id=${endpointId}`
  const page = await pageOf(path)
  const [, count] = /Nothing has been replayed yet\. (\d+) deliveries would be/u.exec(page) ?? []
  assert.ok(Number(count) >= 3, page)
  const [, until] = /name="until" value="([^"]+)"/u.exec(page) ?? []
  assert.equal((await setting.deliveries()).filter(({ state }) => state === 'pending').length, 0)
  const { deliveryId: later } = await failedPackage()
  receiver.reply = () => 204
  const fields = { webhook_endpoint_id: endpointId, until: until ?? '' }
  assert.equal((await operator.submit('/replay', { ...fields, reason: '' }, path)).status, 422)
  const done = await operator.submit('/replay', { ...fields, reason: 'mended' }, path)
  assert.match(done.location ?? '', /^\/deliveries\?/u)
  assert.match(await pageOf(done.location ?? ''), new RegExp(`${count} replayed\\.`, 'u'))
  const replays = await sql`select from delivery where replay_of = ${later}`
  assert.equal(replays.length, 0)
})

test('an endpoint is disabled, enabled with what it missed, and replays its last failed delivery', async () => {
  const path = `/endpoints/${endpointId}`
  assert.match(await pageOf(path), /% of the deliveries that ended arrived/u)
  const disabled = await operator.submit(`${path}/disable`, { reason: 'maintenance' }, path)
  assert.equal(disabled.location, path)
  await sendPackage(sender, owner)
  assert.match(await pageOf(path), /Disabled: operator: maintenance/u)
  receiver.reply = () => 204
  await operator.submit(`${path}/enable`, { reason: 'done', replay: 'on' }, path)
  const enabled = await pageOf(path)
  assert.match(enabled, /Enabled\.[^]*\d+ replayed\./u)
  const { deliveryId } = await failedPackage()
  receiver.reply = () => 204
  const replay = await operator.submit(`${path}/replay-last-failed`, { reason: 'mended' }, path)
  const [row] =
    await sql`select replay_of from delivery where delivery_id = ${(replay.location ?? '').slice(12)}`
  assert.equal(row?.['replay_of'], deliveryId)
})

test('a viewer reads everything and gets no form; its direct requests are refused', async () => {
  const { deliveryId, packageId, threadId } = await failedPackage()
  for (const path of [
    `/deliveries/${deliveryId}`,
    '/replay',
    `/endpoints/${endpointId}`,
    `/packages/${packageId}`,
  ]) {
    const text = await pageOf(path, viewer)
    assert.deepEqual(text.match(/<form[^>]*method="post"[^>]*action="(?!\/sign-out)/gu), null, path)
    assert.doesNotMatch(text, /name="reason"/u, path)
  }
  for (const path of [
    `/deliveries/${deliveryId}/replay`,
    '/replay',
    ...['enable', 'disable', 'delete', 'replay-missed', 'replay-last-failed'].map(
      (verb) => `/endpoints/${endpointId}/${verb}`,
    ),
  ]) {
    const before = await sql`select count(*) as count from operator_log`
    assert.equal((await viewer.submit(path, { reason: 'r' }, `/threads/${threadId}`)).status, 403, path)
    assert.deepEqual(await sql`select count(*) as count from operator_log`, before)
  }
})

test('search leads to the page of what it finds, lists what has several places, and says if there is nothing', async () => {
  const { deliveryId, packageId, threadId } = await failedPackage()
  for (const [id, path] of [
    [packageId, `/packages/${packageId}`],
    [threadId, `/threads/${threadId}`],
    [deliveryId, `/deliveries/${deliveryId}`],
    [endpointId, `/endpoints/${endpointId}`],
  ] as const)
    assert.equal((await operator.get(`/search?id=%20${id}%20`)).location, path)
  const [event] = await sql`select event_id from delivery where delivery_id = ${deliveryId}`
  const found = await pageOf(`/search?id=${String(event?.['event_id'])}`)
  assert.ok(found.includes(`href="/packages/${packageId}"`))
  assert.match(await pageOf('/search?id=pkg_none'), /Nothing has this id/u)
  assert.equal((await operator.get('/packages/pkg_none')).status, 404)
})

test('lists name the company first; deliveries say which event, which package and what came back', async () => {
  await sql`update organization set name = 'Hellström & Co' where organization_id = ${owner.organizationId}`
  await sql`update organization set name = 'Nordwerk' where organization_id = ${sender.organizationId}`
  const { packageId, deliveryId } = await failedPackage()
  const rowOf = (text: string, id: string) =>
    [...text.matchAll(/<tr role="row">[^]*?<\/tr>/gu)].find(([row]) => row.includes(id))?.[0] ?? ''
  const firstOf = (row: string) => textOf(/<th role="rowheader"[^]*?<\/th>/u.exec(row)?.[0] ?? '')
  const inPackages = rowOf(await pageOf('/packages'), `/packages/${packageId}`)
  assert.match(firstOf(inPackages), /^Nordwerk/u)
  assert.match(textOf(inPackages), /Hellström &amp; Co/u)
  assert.ok(inPackages.includes(`title="${packageId}"`))
  assert.ok(inPackages.includes(`data-copy="${packageId}"`))
  assert.match(inPackages, /<span class="cut">/u)
  const inDeliveries = textOf(rowOf(await pageOf('/deliveries'), `/deliveries/${deliveryId}`))
  assert.match(inDeliveries, /^package\.accepted [^]*Hellström &amp; Co [^]*failed [^]*status 400/u)
  assert.ok(inDeliveries.includes(packageId))
})

/** What a reader sees, without buttons. */
const textOf = (html: string) =>
  html
    .replaceAll(/<button[^]*?<\/button>|<(?!\/?span class="cut"|\/span)[^>]*>/gu, ' ')
    .replaceAll(/<[^>]*>/gu, '')
    .replaceAll(/\s+/gu, ' ')
    .trim()

test('a thread of three packages has a group for each, and attempts below their event', async () => {
  receiver.reply = () => 204
  const first = await sendPackage(sender, owner)
  const { thread_id: threadId, package_id: packageId } = first.metadata
  await owner.get(`/content/packages/${packageId}`)
  for (const state of ['received', 'opened']) await sendReceipt(owner, first.metadata, state)
  const answer = await sendPackage(owner, sender, { threadId, respondsTo: packageId })
  receiver.reply = () => 400
  await sendPackage(sender, owner, { threadId, respondsTo: answer.metadata.package_id })
  await setting.until((all) => all.every(({ state }) => state !== 'pending'), 'ended')
  const page = await pageOf(`/threads/${threadId}`)
  assert.equal(page.match(/<section class="group">/gu)?.length, 3)
  const steps = page.match(/<li class="\w+">\s*<svg/gu)?.length ?? 0
  assert.ok(steps > 8 && steps <= 14, `${steps} rows`)
  assert.match(
    page,
    /Event package\.accepted: webhook failed[^]*?<ul class="notes">[^]*?Webhook attempt 1: status 400/u,
  )
})

test('pages of long threads and long lists stay under 100 KB', async () => {
  const first = await sendPackage(sender, owner)
  const threadId = first.metadata.thread_id
  for (let index = 0; index < 30; index++) await sendPackage(sender, owner, { threadId })
  await pageOf('/packages')
  await pageOf('/deliveries')
  const page = await pageOf(`/threads/${threadId}`)
  const [, next] = /href="(\/threads\/[^"]+)" rel="next"/u.exec(page) ?? []
  await pageOf((next ?? '').replaceAll('&amp;', '&'))
  // The worst case of one package: every attempt of several endpoints failed.
  const { packageId } = await failedPackage()
  await sql`
    insert into delivery_attempt (delivery_id, attempt, started_at, outcome, details)
    select delivery_id, number, now(), 'retry', '{"status":500,"duration_ms":12.5}' from delivery, generate_series(2, 7) as number
    where package_id = ${packageId} on conflict do nothing`
  await pageOf(`/packages/${packageId}`)
})

test('a delivery that is retried is amber, with the result of its last attempt, not merely pending', async () => {
  receiver.reply = () => 500
  await sendPackage(sender, owner)
  const isRetried = ({ state, attempts }: { state: string; attempts: readonly object[] }) =>
    state === 'pending' && attempts.length === 1
  const delivery = (await setting.until((all) => all.some(isRetried), 'tried once')).find(isRetried)
  const list = await pageOf('/deliveries?state=pending')
  assert.match(list, /class="badge warn">(?:<[^>]*>)*retrying<[^]*?status 500/u)
  const page = await pageOf(`/deliveries/${delivery?.delivery_id}`)
  assert.match(page, /Retrying after 1 failed attempt; the last result: status 500\./u)
  assert.doesNotMatch(page, />pending<\/span>/u)
})
