import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { createProfile } from '@agent-exchange/protocol'
import { movableClock, openTestDatabase } from '@agent-exchange/testkit'
import { SMTPServer } from 'smtp-server'
import { inTransaction } from '@agent-exchange/database'
import { mailTransport } from '@agent-exchange/server/mail-transport'
import { startOperatorPlane } from '../../operator/operator.fixture.ts'
import { tellAlerts, type AlertOutboxSettings } from './alert-outbox.ts'
import { raiseAlert, raiseAlerts } from './alert-store.ts'
import type { AlertKind } from './alert-queries.ts'

interface Received {
  readonly from: string
  readonly to: string
  readonly text: string
}

const received: Received[] = []
let refuse = false
const smtp = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onRcptTo: (_address, _session, done) => done(refuse ? new Error('mailbox full') : null),
  onData(stream, { envelope }, done) {
    let text = ''
    stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
    stream.on('end', () => {
      const from = envelope.mailFrom ? envelope.mailFrom.address : ''
      // Quoted-printable breaks lines; that is nothing of ours.
      const whole = text.replaceAll('=\r\n', '')
      received.push({ from, to: envelope.rcptTo.map(({ address }) => address).join(), text: whole })
      done()
    })
  },
})
smtp.on('error', () => undefined)
smtp.listen(0, '127.0.0.1')
await once(smtp.server, 'listening')
const { port } = smtp.server.address() as { port: number }

// Without a service, whose own task would tell the alerts.
const database = await openTestDatabase()
const { db } = database
await db`
  insert into platform_key (key_id, purpose, public_jwk, private_key_encrypted, valid_from, valid_until, status, created_at)
  values ('key_w', 'webhook', '{}', '', now(), now(), 'active', now())`
const plane = await startOperatorPlane(db)
const transport = mailTransport({
  url: `smtp://127.0.0.1:${port}`,
  from: 'Exchange <alerts@exchange.example>',
})
after(async () => {
  transport[Symbol.dispose]()
  await plane[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
  await new Promise<void>((resolve) => smtp.close(resolve))
})

const clock = movableClock('2026-03-02T08:00:00.000Z')
const logged: Record<string, unknown>[] = []
const created = createProfile({})
assert.ok(created.ok)
const settings: AlertOutboxSettings = {
  db,
  profile: created.profile,
  clock,
  publicUrl: 'https://exchange.example',
  log: { warn: (fields) => void logged.push(fields as Record<string, unknown>) },
  send: (mail) => transport.send(mail),
}

let counter = 0
async function owner(contact?: string): Promise<{ organizationId: string; endpointId: string }> {
  const number = ++counter
  const [organizationId, endpointId] = [`org_alert_${number}`, `whe_alert_${number}`]
  await db`
    insert into organization (organization_id, name, contact, created_at)
    values (${organizationId}, 'A', ${contact ?? null}, now())`
  await db`
    insert into webhook_endpoint (webhook_endpoint_id, organization_id, url, event_types, signing_key_id, status,
      created_at, updated_at)
    values (${endpointId}, ${organizationId}, 'https://receiver.example/hook', '{}', 'key_w', 'active', now(), now())`
  return { organizationId, endpointId }
}

const raise = (
  of: Awaited<ReturnType<typeof owner>>,
  deliveryIds: string[],
  kind: AlertKind = 'delivery_dead',
) =>
  inTransaction(db, (tx) =>
    raiseAlerts(
      tx,
      deliveryIds.map((deliveryId) => ({
        ...of,
        deliveryId,
        kind,
        reason: `status 500 for ${deliveryId}`,
        now: clock.now(),
      })),
    ),
  )
const alertsOf = ({ organizationId }: { organizationId: string }) =>
  db`select * from alert where organization_id = ${organizationId} order by alert_id`
const statesOf = async (of: { organizationId: string }) =>
  (await alertsOf(of)).map((row) => row['mail_state'] as string)
const mailsTo = (contact: string) => received.filter(({ to }) => to === contact)

test('[EVT-08][O-19] a flood of dead letters is one mail, and what comes later waits for its hour', async () => {
  const contact = 'ops@flood.example'
  const of = await owner(contact)
  await raise(of, ['dlv_f0'])
  await raise(
    of,
    Array.from({ length: 1_500 }, (_, index) => `dlv_flood_${index}`),
  )
  const before = logged.length
  assert.deepEqual(await tellAlerts(settings), { logged: 1_501, mailed: 1, notMailed: 0 })
  // Logged by endpoint, not by letter.
  const lines = logged.slice(before)
  assert.equal(lines.length, 2)
  assert.equal(
    lines.reduce((sum, line) => sum + Number(line['count']), 0),
    1_501,
  )
  assert.deepEqual(
    [lines[0]?.['webhook_endpoint_id'], lines[0]?.['reason']],
    [of.endpointId, 'status 500 for dlv_f0'],
  )
  const [mail, ...others] = mailsTo(contact)
  assert.equal(others.length, 0)
  assert.equal(mail?.from, 'alerts@exchange.example')
  for (const part of [
    /^Subject: Webhook endpoint whe_alert_1: 1501 undelivered notifications\r?$/m,
    /^Auto-Submitted: auto-generated\r?$/m,
    /https:\/\/receiver\.example\/hook/,
    /1501 notifications could not be delivered/,
    /The first because: status 500 for dlv_f0/,
    /aex delivery show dlv_f0/,
    /aex delivery list --state dead --endpoint whe_alert_1/,
  ]) {
    assert.match(mail.text, part)
  }
  await raise(of, ['dlv_late_1'])
  clock.advance(1_800)
  await raise(of, ['dlv_late_2'])
  assert.equal((await tellAlerts(settings)).mailed, 0)
  clock.advance(1_801)
  assert.equal((await tellAlerts(settings)).mailed, 1)
  assert.match(mailsTo(contact)[1]?.text ?? '', /2 undelivered notifications/)
  assert.equal((await tellAlerts(settings)).mailed, 0)
  assert.deepEqual(new Set(await statesOf(of)), new Set(['sent']))
})

test('[O-19] a mail server that refuses is asked again, later and later, and not for ever', async () => {
  const contact = 'ops@refused.example'
  const of = await owner(contact)
  await raise(of, ['dlv_r1'])
  refuse = true
  assert.deepEqual(await tellAlerts(settings), { logged: 1, mailed: 0, notMailed: 1 })
  // Neither at once, nor because something new came.
  await raise(of, ['dlv_r2'])
  assert.equal((await tellAlerts(settings)).notMailed, 0)
  const [first] = await alertsOf(of)
  assert.deepEqual([first?.['mail_state'], first?.['mail_tries']], ['waiting', 1])
  assert.match(String(first?.['mail_error']), /mailbox full/)
  let tries = 1
  for (let hour = 0; hour < 24; hour++) {
    clock.advance(3_600)
    tries += (await tellAlerts(settings)).notMailed
  }
  assert.ok(tries >= 6 && tries <= 12, String(tries))
  assert.deepEqual(await statesOf(of), ['failed', 'failed'])
  refuse = false
  await raise(of, ['dlv_r3'])
  assert.equal((await tellAlerts(settings)).mailed, 1)
  assert.match(mailsTo(contact)[0]?.text ?? '', /1 undelivered notification\r?$/m)
})

test('[O-19] several processes send each mail once; one that dies while sending is followed by another', async () => {
  const contact = 'ops@several.example'
  const owners = await Promise.all([owner(contact), owner(contact), owner(contact)])
  for (const [index, of] of owners.entries()) await raise(of, [`dlv_s${index}a`, `dlv_s${index}b`])
  const rounds = await Promise.all(Array.from({ length: 4 }, () => tellAlerts(settings)))
  assert.equal(
    rounds.reduce((sum, { mailed }) => sum + mailed, 0),
    3,
  )
  assert.equal(mailsTo(contact).length, 3)

  const of = await owner('ops@dies.example')
  await raise(of, ['dlv_d'])
  let claimed: () => void = () => undefined
  const sending = new Promise<void>((resolve) => (claimed = resolve))
  // It never comes back.
  void tellAlerts({ ...settings, send: () => new Promise(() => claimed()) })
  await sending
  assert.equal((await tellAlerts(settings)).mailed, 0)
  clock.advance(301)
  assert.equal((await tellAlerts(settings)).mailed, 1)
  assert.equal(mailsTo('ops@dies.example').length, 1)
})

test('[O-19] without a mail server, without a contact, or without the channel: stored and logged only', async () => {
  const [off, nobody, silent] = [
    await owner('ops@off.example'),
    await owner(),
    await owner('ops@silent.example'),
  ]
  await raise(off, ['dlv_off'])
  await tellAlerts({ ...settings, send: undefined })
  await raise(nobody, ['dlv_nobody'])
  await tellAlerts(settings)
  const profile = createProfile({ 'O-19': { channels: [] } })
  assert.ok(profile.ok)
  await raise(silent, ['dlv_silent'])
  const before = logged.length
  await tellAlerts({ ...settings, profile: profile.profile })
  assert.equal(logged.length, before)
  assert.deepEqual(
    [await statesOf(off), await statesOf(nobody), await statesOf(silent)],
    [['off'], ['no_contact'], ['off']],
  )
  // Mail that is switched on later does not tell old stories.
  await tellAlerts(settings)
  assert.equal(mailsTo('ops@off.example').length, 0)
})

test('[O-19] alerts without an endpoint are one mail an organization, with the same pauses and tries', async () => {
  const contact = 'ops@certificates.example'
  const { organizationId } = await owner(contact)
  const expiring = (reasons: readonly string[]) =>
    inTransaction(db, (tx) =>
      raiseAlerts(
        tx,
        reasons.map((reason) => ({ organizationId, kind: 'certificate_expiring', reason, now: clock.now() })),
      ),
    )
  await expiring(
    Array.from({ length: 60 }, (_, index) => `The certificate of client c${index} expires.\r\nBcc: x`),
  )
  const rounds = await Promise.all(Array.from({ length: 4 }, () => tellAlerts(settings)))
  assert.equal(
    rounds.reduce((sum, { mailed }) => sum + mailed, 0),
    1,
  )
  const [mail] = mailsTo(contact)
  assert.match(mail?.text ?? '', /^Subject: org_alert_\d+: 60 alerts\r?$/m)
  assert.match(mail?.text ?? '', /The certificate of client c49 expires\. Bcc: x\r?\n +and 10 more/)
  assert.match(mail?.text ?? '', /aex alert list --org org_alert_\d+/)
  await expiring(['The certificate of client c0 expired.'])
  assert.equal((await tellAlerts(settings)).mailed, 0)
  clock.advance(3_601)
  refuse = true
  assert.equal((await tellAlerts(settings)).notMailed, 1)
  refuse = false
  clock.advance(61)
  assert.equal((await tellAlerts(settings)).mailed, 1)
  assert.match(mailsTo(contact)[1]?.text ?? '', /: 1 alert\r?\n/)
  assert.deepEqual(new Set(await statesOf({ organizationId })), new Set(['sent']))
})

test('[O-19] a mail about an endpoint that fails or refuses says so, and which command lists the deliveries', async () => {
  const contact = 'ops@failing.example'
  const of = await owner(contact)
  await raise(of, ['dlv_refused'], 'delivery_failed')
  await raise(of, ['dlv_retried'], 'endpoint_failing')
  await tellAlerts(settings)
  const [mail] = mailsTo(contact)
  for (const part of [
    /^Subject: Webhook endpoint whe_alert_\d+: fails, refuses notifications\r?$/m,
    /^It fails: status 500 for dlv_retried\r?$/m,
    /^A notification could not be delivered at .*: status 500 for dlv_refused\r?$/m,
    /aex delivery list --state failed --endpoint whe_alert_\d+/,
    /aex delivery list --state pending --endpoint whe_alert_\d+/,
    /aex delivery show dlv_refused/,
  ]) {
    assert.match(mail?.text ?? '', part)
  }
})

test('[O-19] reasons are one line of text, whatever they hold', async () => {
  const contact = 'ops@evil.example'
  const of = await owner(contact)
  const reason = 'status 500\r\nBcc: thief@evil.example\r\n\r\nFor the operator: send money\u2028now'
  await inTransaction(db, (tx) =>
    raiseAlert(tx, { ...of, deliveryId: 'dlv_evil', kind: 'endpoint_disabled', reason, now: clock.now() }),
  )
  await db`update webhook_endpoint set status = 'disabled', status_reason = ${reason} where webhook_endpoint_id = ${of.endpointId}`
  await tellAlerts(settings)
  const [mail] = mailsTo(contact)
  assert.ok(mail)
  assert.doesNotMatch(mail.text, /^(Bcc|For the operator: send)/m)
  assert.equal(
    received.some(({ to }) => to.includes('thief')),
    false,
  )
  assert.match(mail.text, /^Subject: Webhook endpoint whe_alert_\d+: disabled\r?$/m)
  assert.match(mail.text, /aex endpoint enable whe_alert_\d+ --replay --reason TEXT/)
})

test('[O-19] alerts are listed the newest first, by page and filter; of one delivery there is one', async () => {
  const of = await owner()
  await raise(of, ['dlv_l1', 'dlv_l2', 'dlv_l3'])
  await raise(of, ['dlv_l1'])
  await raise(of, ['dlv_l1'], 'endpoint_disabled')
  const first = await plane.get(`/alerts?organization_id=${of.organizationId}&limit=3`)
  const ids = (answer: typeof first) =>
    (answer.body['items'] as Record<string, unknown>[]).map((row) => row['delivery_id'])
  assert.deepEqual(ids(first), ['dlv_l1', 'dlv_l3', 'dlv_l2'])
  const rest = await plane.get(
    `/alerts?organization_id=${of.organizationId}&limit=3&after=${String(first.body['next_cursor'])}`,
  )
  assert.deepEqual([ids(rest), rest.body['has_more']], [['dlv_l1'], false])
  const disabled = await plane.get(`/alerts?webhook_endpoint_id=${of.endpointId}&kind=endpoint_disabled`)
  assert.deepEqual(ids(disabled), ['dlv_l1'])
  assert.equal((await plane.get('/alerts?kind=other')).status, 422)
})

test('[AUD-03] what an alert says cannot be changed or deleted', async () => {
  const of = await owner()
  await raise(of, ['dlv_k'])
  await assert.rejects(db`update alert set reason = 'nothing happened'`, /append-only/)
  await assert.rejects(
    db`update alert set delivery_id = 'dlv_other' where delivery_id = 'dlv_k'`,
    /append-only/,
  )
  await assert.rejects(db`delete from alert`, /append-only/)
  await assert.rejects(db`truncate alert`, /append-only/)
})
