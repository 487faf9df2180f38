import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { DEFAULT_PROFILE as profile } from '@agent-exchange/protocol'
import { startWorld, testAuthority, type World } from '@agent-exchange/testkit'
import { openDatabase } from '@agent-exchange/database'
import { DAY_SECONDS, secondsAfter } from '@agent-exchange/server/clock'
import { alertExpiry } from './alert-expiry.ts'

interface Alert {
  readonly kind: string
  readonly organization_id: string
  readonly reason: string
}

const alertsOf = async (world: World) => (await world.operate('GET', '/alerts')).body['items'] as Alert[]

async function looking(world: World) {
  const db = openDatabase({ target: world.databaseUrl, maximumConnections: 8, applicationName: 'expiry' })
  return {
    look: () => alertExpiry({ db, profile, clock: world.clock }),
    [Symbol.asyncDispose]: () => db.end({ timeout: 1 }),
  }
}

test('an expiring TLS certificate is alerted once, once more when it has expired, and again for its successor', async () => {
  await using world = await startWorld()
  await using looker = await looking(world)
  const { look } = looker
  const setEnd = (end: string) =>
    world.sql`update service_process set certificate_expires_at = ${end}, seen_at = ${world.clock.now()}`
  await setEnd(secondsAfter(world.clock.now(), 15 * DAY_SECONDS))
  assert.equal(await look(), 0)
  const end = secondsAfter(world.clock.now(), 13 * DAY_SECONDS)
  await setEnd(end)
  // Every process looks; one of them raises the alert.
  assert.deepEqual((await Promise.all([look(), look(), look()])).toSorted(), [0, 0, 1])
  await setEnd(secondsAfter(world.clock.now(), -60))
  assert.equal(await look(), 1)
  assert.equal(await look(), 0)
  await setEnd(secondsAfter(world.clock.now(), 90 * DAY_SECONDS))
  assert.equal(await look(), 0)
  await setEnd(end)
  assert.equal(await look(), 1)
  const alerts = await alertsOf(world)
  assert.deepEqual(
    alerts.map(({ kind }) => kind),
    Array.from({ length: 3 }, () => 'certificate_expiring'),
  )
  assert.match(alerts[1]?.reason ?? '', /^The TLS certificate expired at /u)
  assert.equal(alerts[0]?.reason, `The TLS certificate expires at ${end}.`)
})

test('a platform key without a successor is alerted before it ends', async () => {
  await using world = await startWorld()
  await using looker = await looking(world)
  await world.sql`
    update platform_key set valid_until = ${secondsAfter(world.clock.now(), 2 * DAY_SECONDS)}
    where purpose = 'statement'`
  assert.equal(await looker.look(), 1)
  const [alert] = await alertsOf(world)
  assert.equal(alert?.kind, 'key_expiring')
  assert.match(alert?.reason ?? '', /^The statement key has no successor and expires at /u)
})

test('[AUTH-02] the certificate of a client is alerted for its organization, also if an earlier release stored it', async () => {
  await using world = await startWorld()
  await using looker = await looking(world)
  const acme = await world.organization('acme')
  const { certificate } = await (await testAuthority()).client('agent.example')
  const { body } = await world.operate('POST', '/clients', {
    organization_id: acme.organizationId,
    certificate,
  })
  const clientId = String(body['client_id'])
  const end = new Date(new X509Certificate(certificate).validTo).toISOString()
  await world.sql`update oauth_client set certificate_expires_at = null`
  assert.equal(await looker.look(), end <= secondsAfter(world.clock.now(), 14 * DAY_SECONDS) ? 1 : 0)
  const [filled] = await world.sql<{ certificate_expires_at: Date }[]>`
    select certificate_expires_at from oauth_client where client_id = ${clientId}`
  assert.equal(filled?.certificate_expires_at.toISOString(), end)

  const soon = secondsAfter(world.clock.now(), DAY_SECONDS)
  await world.sql`update oauth_client set certificate_expires_at = ${soon} where client_id = ${clientId}`
  await looker.look()
  const [alert] = await alertsOf(world)
  assert.equal(alert?.organization_id, acme.organizationId)
  assert.equal(alert?.reason, `The certificate of client ${clientId} expires at ${soon}.`)
  const overview = await world.operate('GET', '/overview')
  assert.match(JSON.stringify(overview.body['issues']), new RegExp(`certificate of client ${clientId}`, 'u'))
  await world.operate('POST', `/clients/${clientId}/disable`, { reason: 'left' })
  await looker.look()
  const [{ notices } = { notices: -1 }] = await world.sql<{ notices: number }[]>`
    select count(*)::integer as notices from expiry_notice`
  assert.equal(notices, 0, 'what was replaced or disabled has no notice')
})

test('metrics say when certificates and keys end', async () => {
  const authority = await testAuthority()
  const { certificate, key } = await authority.server()
  const tls = { certificate, key, clientCa: authority.certificate }
  await using world = await startWorld({ config: { tls } })
  // Plain text of the operator listener over TLS: read with its own authority.
  const { default: https } = await import('node:https')
  const text = await new Promise<string>((resolve, reject) => {
    https
      .get(`${world.operatorUrl}/metrics`, { ca: authority.certificate }, (response) => {
        let all = ''
        response.on('data', (chunk) => (all += String(chunk))).on('end', () => resolve(all))
      })
      .on('error', reject)
  })
  const end = Date.parse(new X509Certificate(certificate).validTo) / 1_000
  const value = (series: string) =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${series} `))
        ?.split(' ')[1],
    )
  assert.equal(value('aex_certificate_expiry_timestamp_seconds{certificate="tls"}'), end)
  assert.ok(value('aex_certificate_expiry_timestamp_seconds{certificate="client_ca"}') > 0)
  assert.ok(value('aex_platform_key_expiry_timestamp_seconds{purpose="webhook"}') > end / 2)
  assert.equal(value('aex_client_certificates_expiring'), 0)
})
