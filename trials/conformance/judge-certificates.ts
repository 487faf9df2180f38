import assert from 'node:assert/strict'
import { startWorld, type TestAuthority, testAuthority, type World } from '@agent-exchange/testkit'
import { accepts } from '../../packages/conformance/mutants/mutant.ts'
import { SERVICE_CHECKS } from '../../packages/conformance/src/service/checks/index.ts'
import {
  judgeService,
  type OrganizationSettings,
  type ServiceUnderTest,
} from '../../packages/conformance/src/service/judge-service.ts'
import type { Transport } from '../../packages/conformance/src/wire/wire.ts'
import type { TrialTools } from '../shared/trial-parts.ts'
import { PACE } from './own-service.ts'

const IDS = new Set(['AUTH-01', 'AUTH-02'])

/** Clients that authenticate by certificates: they pass, and a service that does not compare certificates does not. */
export async function tryCertificates({ report }: TrialTools): Promise<void> {
  const authority = await testAuthority()
  const tls = { ...(await authority.server()), clientCa: authority.certificate }
  await using world = await startWorld({
    profile: { 'O-30': { require_mutual_tls: true } },
    config: { role: 'api', tls },
  })
  const [a, b, c] = await Promise.all(
    ['a', 'b', 'c'].map((name) => certificateClient(world, authority, name)),
  )
  assert.ok(a && b && c)
  const service = {
    baseUrl: world.url,
    organizations: [a, b, c],
    ca: authority.certificate,
    hooks: {},
  } satisfies ServiceUnderTest
  await report.step('AUTH-02', 'clients with certificates get tokens and pass', async () => {
    const results = await judge(service, 'certificates')
    const wrong = results.filter(({ verdict }) => verdict !== 'pass')
    assert.deepEqual(wrong, [], wrong.map(({ name, reason }) => `${name}: ${reason}`).join('\n'))
    return `${results.length} checks passed`
  })
  await report.step('AUTH-02', 'takes a token over another certificate', async () => {
    const unbound = accepts(
      ['listNotifications'],
      ['client_certificate_mismatch', 'client_certificate_required'],
    )
    const results = await judge(service, 'unbound', unbound())
    const failed = results.filter(({ verdict }) => verdict === 'fail').map(({ name }) => name)
    assert.deepEqual(failed, ['authentication/certificate-binding'])
    return failed.join(', ')
  })
}

const judge = (service: ServiceUnderTest, seed: string, mutate?: (send: Transport) => Transport) =>
  judgeService(service, {
    // Getting a skill release needs a hook, which these clients lack.
    checks: SERVICE_CHECKS.filter(
      ({ ids, name }) => ids.some((id) => IDS.has(id)) && name !== 'authentication/without-token',
    ),
    seed,
    requestsPerSecond: PACE,
    ...(mutate && { mutate }),
  })

async function certificateClient(
  world: World,
  authority: TestAuthority,
  name: string,
): Promise<OrganizationSettings> {
  const [organizationId, clientId, dnsName] = [`org_${name}`, `client_${name}`, `${name}.example`]
  const { certificate, key } = await authority.client(dnsName)
  // The operator API has the same certificate, which no fetch of the testkit trusts.
  await world.sql`
    insert into organization (organization_id, name, created_at) values (${organizationId}, ${name}, now())`
  await world.sql`
    insert into oauth_client (client_id, organization_id, authentication, tls_san_dns, created_at)
    values (${clientId}, ${organizationId}, 'tls_client_auth', ${dnsName}, now())`
  return { organizationId, clientId, tls: { cert: certificate, key } }
}
