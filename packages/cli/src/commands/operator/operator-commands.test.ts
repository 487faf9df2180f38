import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { generateKeyPair } from '@agent-exchange/crypto'
import {
  draftSkillManifest,
  freePorts,
  selfSignedCertificate,
  startWorld,
  testAuthority,
} from '@agent-exchange/testkit'
import { aexAt, aexHere as aex, documentOf as json } from '../../aex-here.fixture.ts'
import { runAex } from '../../aex-process.fixture.ts'

const world = await startWorld()
const folder = await mkdtemp(join(tmpdir(), 'aex-cli-'))
after(async () => {
  await rm(folder, { recursive: true })
  await world[Symbol.asyncDispose]()
})

const created = await world.operate('POST', '/operators', { name: 'cli', role: 'administrator' })
const token = String(created.body['token'])
await writeFile(join(folder, 'operator-token'), `${token}\n`)
const clean = {
  AEX_OPERATOR_URL: '',
  AEX_OPERATOR_TOKEN: '',
  AEX_OPERATOR_PORT: '',
  AEX_OPERATOR_HOST: '',
  AEX_TLS_CERT: '',
}
const env = { ...clean, AEX_OPERATOR_URL: world.operatorUrl, AEX_DATA_DIR: folder }
Object.assign(process.env, env)

async function file(name: string, content: string | Uint8Array): Promise<string> {
  await writeFile(join(folder, name), content)
  return join(folder, name)
}

const { publicKey, privateJwk } = await generateKeyPair('signing')
const publicFile = await file('public.json', JSON.stringify(publicKey.jwk))
const LONG = 'a'.repeat(128)

test('with an identity provider, invite create and client create say where clients are registered', async () => {
  await using outside = await startWorld({ config: { issuer: 'https://login.example/realms/exchange' } })
  const operator = await outside.operate('POST', '/operators', { name: 'cli', role: 'administrator' })
  await outside.operate('POST', '/organizations', { organization_id: 'org_acme', name: 'Acme' })
  const place = {
    env: {
      ...clean,
      AEX_OPERATOR_URL: outside.operatorUrl,
      AEX_OPERATOR_TOKEN: String(operator.body['token']),
    },
  }
  for (const command of [
    ['invite', 'create', '--org', 'org_acme'],
    ['client', 'create', '--org', 'org_acme', '--jwk', publicFile],
  ]) {
    const { code, stdout, stderr } = await aexAt(place, ...command)
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(
      stderr,
      /^The clients .* https:\/\/login\.example\/realms\/exchange \(AEX_ISSUER\)\. Register /mu,
    )
    assert.doesNotMatch(stderr, /hint:/u)
  }
})

test('organizations: create, list, suspend, activate, with 128-character tails', async () => {
  const id = `org_${LONG}`
  assert.equal(
    (await json('org', 'create', id, '--name', 'Long', '--contact', 'ops@long.example'))['status'],
    'active',
  )
  const suspended = await aex('org', 'suspend', id, '--json')
  assert.equal(suspended.code, 0, suspended.stderr)
  assert.equal((JSON.parse(suspended.stdout) as Record<string, unknown>)['status'], 'suspended')
  assert.equal((await json('org', 'activate', id, '--reason', 'paid'))['status'], 'active')
  assert.equal(
    (await json('org', 'contact', id, 'duty@long.example', '--reason', 'new shift'))['contact'],
    'duty@long.example',
  )
  assert.equal((await json('org', 'contact', id, '--none'))['contact'], null)
  for (const wrong of [[], ['duty@long.example', '--none'], ['nobody']]) {
    const refused = await aex('org', 'contact', id, ...wrong)
    assert.notEqual(refused.code, 0)
    assert.match(refused.stderr, /address/u)
  }
  const table = await aex('org', 'list')
  assert.match(table.stdout, new RegExp(`^ORGANIZATION_ID +NAME +STATUS .*\\n(?:.*\\n)*${id} +Long +active `))
  const { items } = await json('operator', 'log', '--target', id)
  assert.deepEqual(
    (items as Record<string, unknown>[]).map((entry) => [entry['actor'], entry['action'], entry['reason']]),
    [
      ['cli', 'organization.contact', null],
      ['cli', 'organization.contact', 'new shift'],
      ['cli', 'organization.activate', 'paid'],
      ['cli', 'organization.suspend', 'no reason given'],
      ['cli', 'organization.create', null],
    ],
  )
})

test('a list ends where --limit says, over as many pages as it takes', async () => {
  for (let index = 0; index < 105; index++) {
    await world.operate('POST', '/organizations', { organization_id: `org_n${index}`, name: 'n' })
  }
  const all = await json('org', 'list')
  assert.ok((all['items'] as unknown[]).length >= 106)
  assert.equal(all['has_more'], false)
  const some = await json('org', 'list', '--limit', '101')
  assert.equal((some['items'] as unknown[]).length, 101)
  assert.equal(some['has_more'], true)
  const wrong = await aex('org', 'list', '--limit', '0')
  assert.equal(wrong.code, 1)
  assert.match(wrong.stderr, /Give a number from 1/)
})

test('[AUTH-02] clients: by JWK, by certificate, by name; list, rotate, disable', async () => {
  await json('org', 'create', 'org_acme', '--name', 'Acme')
  const client = await json(
    'client',
    'create',
    '--org',
    'org_acme',
    '--agent',
    `agent_${LONG}`,
    '--jwk',
    publicFile,
  )
  const id = String(client['client_id'])
  assert.match(id, /^client_/)
  assert.equal(client['authentication'], 'private_key_jwt')
  const pem = await file('client.pem', (await selfSignedCertificate()).certificate)
  assert.equal(
    (await json('client', 'rotate', id, '--certificate', pem))['authentication'],
    'self_signed_tls_client_auth',
  )
  const named = await json('client', 'create', '--org', 'org_acme', '--tls-san-dns', 'agent.acme.example')
  assert.equal(named['authentication'], 'tls_client_auth')
  const listed = await aex('client', 'list', '--org', 'org_acme')
  assert.match(listed.stdout, new RegExp(`${id} +org_acme +agent_a+ +self_signed_tls_client_auth +active`))
  assert.equal((await json('client', 'disable', id, '--reason', 'lost'))['status'], 'disabled')
})

test('[AUTH-04] a private key given as --jwk or --certificate is refused before anything is sent', async () => {
  let requests = 0
  const trap = createServer((_request, response) => {
    requests += 1
    response.end('{}')
  })
  await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(trap.address() as AddressInfo).port}`
  const jwk = await file('private.json', JSON.stringify(privateJwk))
  const pem = await file('private.pem', '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n')
  for (const option of [
    ['--jwk', jwk],
    ['--certificate', pem],
  ]) {
    const elsewhere = { env: { ...env, AEX_OPERATOR_URL: url } }
    const result = await aexAt(elsewhere, 'client', 'create', '--org', 'org_acme', ...option)
    assert.equal(result.code, 1)
    assert.match(result.stderr, /private key/)
    assert.match(result.stderr, /Nothing was sent/)
    assert.ok(!(result.stderr + result.stdout).includes(privateJwk.d))
  }
  await new Promise((resolve) => trap.close(resolve))
  assert.equal(requests, 0)
  const both = await aex(
    'client',
    'create',
    '--org',
    'org_acme',
    '--jwk',
    publicFile,
    '--tls-san-dns',
    'a.example',
  )
  assert.match(both.stderr, /exactly one of --jwk/)
  const none = await aex('client', 'create', '--org', 'org_acme')
  assert.match(none.stderr, /exactly one of --jwk/)
})

test('connectors: approve, list, suspend, revoke', async () => {
  const which = ['--org', 'org_acme', '--connector', 'edc/1 ä']
  const approved = await json(
    'connector',
    'approve',
    ...which,
    '--participant',
    'BPNL1',
    '--endpoint',
    'https://edc.acme.example',
  )
  assert.equal(approved['status'], 'approved')
  assert.equal((await json('connector', 'suspend', ...which, '--reason', 'audit'))['status'], 'suspended')
  assert.equal((await json('connector', 'revoke', ...which))['status'], 'revoked')
  assert.match(
    (await aex('connector', 'list', '--org', 'org_acme')).stdout,
    /org_acme +edc\/1 ä +BPNL1 +revoked/,
  )
})

test('[ID-10] skills: a release is published once, and a wrong manifest is explained here', async () => {
  const manifest = draftSkillManifest()
  const manifestFile = await file('manifest.json', JSON.stringify(manifest))
  const artifact = await file('artifact.bin', new Uint8Array([1, 2, 3]))
  const release = await json('skill', 'publish', manifestFile, artifact)
  assert.match(String(release['artifact_digest']), /^sha-256=:/)
  assert.equal((release['manifest_signature'] as Record<string, unknown>)['algorithm'], 'ES256')
  const again = await aex('skill', 'publish', manifestFile, artifact)
  assert.equal(again.code, 1)
  assert.match(again.stderr, /identifier_conflict/)
  const wrong = await aex(
    'skill',
    'publish',
    await file('wrong.json', JSON.stringify({ ...manifest, color: 'red' })),
    artifact,
  )
  assert.match(wrong.stderr, /cannot be published:\n {2}\/color +Remove the member "color"/)
  const odd = await file('odd.json', JSON.stringify({ ...manifest, version: '2', protocol_range: 'any' }))
  const unreadable = await aex('skill', 'publish', odd, artifact)
  assert.equal(unreadable.code, 1)
  assert.match(
    unreadable.stderr,
    /cannot be published:\n {2}\/protocol_range +Write a version such as "svc\/1\.0"/,
  )
  assert.match((await aex('skill', 'publish', manifestFile, join(folder, 'none'))).stderr, /cannot be read/)
})

test('agents, keys, endpoints, deliveries and operators', async () => {
  await world.sql`
    insert into agent values ('agent_x', 'org_acme', ${'evil\u001b[31m'}, '1', '{}', '{}', '{}', 'active', 'uncertified', now(), now())`
  assert.equal(
    (await json('agent', 'set-status', 'agent_x', 'suspended', '--reason', 'incident'))['status'],
    'suspended',
  )
  assert.equal((await json('agent', 'certify', 'agent_x'))['certification_status'], 'certified')
  for (const given of ['set-status agent_x asleep --reason typo', 'certify agent_x perhaps']) {
    const wrong = await aex('agent', ...given.split(' '))
    assert.equal(wrong.code, 1, given)
    assert.match(wrong.stderr, /^ {2}\/status {2}Use one of (?:active|uncertified), .*\(O-05 \w+\)\.$/mu)
  }
  const agents = await aex('agent', 'list', '--org', 'org_acme')
  assert.match(agents.stdout, /agent_x +org_acme +suspended +certified +evil\\u001b\[31m/)
  const before = (await json('keys', 'list'))['keys'] as Record<string, unknown>[]
  const rotated = await json('keys', 'rotate')
  const keys = (await json('keys', 'list'))['keys'] as Record<string, unknown>[]
  assert.equal(keys.length, before.length + 1)
  assert.ok(keys.some((key) => key['key_id'] === rotated['key_id']))
  for (const purpose of ['token', 'statement']) {
    const next = await json('keys', 'rotate', '--purpose', purpose)
    const listed = (await json('keys', 'list', '--purpose', purpose))['keys'] as Record<string, unknown>[]
    assert.deepEqual(
      listed.map((key) => [key['key_id'] === next['key_id'], key['status']]),
      [
        [true, 'active'],
        [false, 'retiring'],
      ],
    )
    assert.equal(
      (await json('keys', 'revoke', String(next['key_id']), '--reason', 'drill'))['status'],
      'revoked',
    )
  }
  assert.match(
    (await aex('keys', 'list')).stdout,
    /^KEY_ID +STATUS +VALID_FROM +VALID_UNTIL +ENDPOINTS +REVOKED_AT +STANDBY +HELD_IN\n/,
  )

  await world.sql`
    insert into webhook_endpoint values ('wh_1', 'org_acme', 'https://a.example', '{}', ${String(rotated['key_id'])}, 'disabled', '410', now(), now())`
  await world.sql`
    insert into delivery (delivery_id, webhook_endpoint_id, organization_id, package_id, notification_id, event_id, state, next_attempt_at, created_at)
    values ('dlv_1', 'wh_1', 'org_acme', 'pkg_1', 'ntf_1', 'evt_1', 'dead', now(), now())`
  await world.sql`insert into delivery_attempt values ('dlv_1', 1, now(), 'retry', '{"status":500}')`
  assert.match((await aex('endpoint', 'list')).stdout, /wh_1 +org_acme +disabled +410/)
  assert.equal((await json('endpoint', 'enable', 'wh_1'))['status'], 'active')
  assert.equal((await json('endpoint', 'disable', 'wh_1'))['status'], 'disabled')
  assert.equal((await json('endpoint', 'delete', 'wh_1'))['status'], 'deleted')
  assert.match((await aex('delivery', 'list', '--state', 'dead', '--org', 'org_acme')).stdout, /dlv_1 +dead/)
  assert.equal((await aex('delivery', 'list', '--state', 'pending')).stdout, 'There are none.\n')
  assert.match(
    (await aex('delivery', 'show', 'dlv_1')).stdout,
    /\n\nAttempts\nATTEMPT +STARTED_AT +OUTCOME +STATUS\n1 +\S+ +retry +500/,
  )

  const alice = await aex('operator', 'create', 'alice')
  assert.match(alice.stderr, /^Without --role, alice got the role administrator, /mu)
  const asAlice = { env: { AEX_OPERATOR_TOKEN: /aexop_\S+/u.exec(alice.stdout)?.[0] ?? '' } }
  assert.equal((await aexAt(asAlice, 'operator', 'list')).code, 0)
  await json('operator', 'disable', 'alice', '--reason', 'test')
  const refused = await aexAt(asAlice, 'operator', 'list')
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /does not accept the operator token from AEX_OPERATOR_TOKEN/)
})

test('roles are set and enforced: a viewer lists, and learns which role a change needs', async () => {
  const { token: given } = await json('operator', 'create', 'vera', '--role', 'viewer')
  const asVera = { env: { ...env, AEX_OPERATOR_TOKEN: String(given) } }
  assert.equal((await aexAt(asVera, 'org', 'list')).code, 0)
  const refused = await aexAt(asVera, 'org', 'create', 'org_vera', '--name', 'V')
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /\(not_permitted\)\.\n {2}required_role: operator\n {2}role: viewer\n/)
  assert.equal((await json('operator', 'set-role', 'vera', 'operator'))['role'], 'operator')
  assert.equal((await aexAt(asVera, 'org', 'create', 'org_vera', '--name', 'V')).code, 0)
  const rotation = await aexAt(asVera, 'keys', 'rotate')
  assert.match(rotation.stderr, /required_role: administrator/)
  assert.match((await aex('operator', 'set-role', 'vera', 'root')).stderr, /Allowed choices are viewer/)
  const { items } = await json('operator', 'log', '--actor', 'cli', '--action', 'operator.set-role')
  assert.deepEqual(
    (items as { target: string; details: object }[]).map(({ target, details }) => [target, details]),
    [['vera', { role: 'operator', former_role: 'viewer' }]],
  )
  assert.deepEqual((await json('operator', 'sessions'))['items'], [])
  assert.match((await aex('operator', 'end-session', 'session_none')).stderr, /resource_not_found/)
})

test('status says what is wrong at 80 columns, and fails for scripts when it is bad', async () => {
  const { code, stdout } = await aex('status')
  // This world has no worker, so nothing delivers.
  assert.equal(code, 1)
  assert.match(stdout, /^✖ failing {2}[\d-]+ [\d:]+ UTC\n {2}✖ No process delivers webhooks: start one/)
  assert.match(stdout, /\npackages +\d+ +\d+/)
  assert.ok(
    stdout.split('\n').every((line) => line.length <= 80),
    stdout,
  )
  const document = await aex('status', '--json')
  const { status, hour } = JSON.parse(document.stdout) as { status: string; hour: unknown[] }
  assert.deepEqual([document.code, status, hour.length], [1, 'failing', 30])
})

test('what goes wrong is said in sentences, with exit code 1 and no stack', async () => {
  const [port] = await freePorts(1)
  const cases: [NodeJS.ProcessEnv, RegExp][] = [
    [
      { ...clean, AEX_DATA_DIR: folder, AEX_OPERATOR_PORT: String(port) },
      new RegExp(
        `does not answer at http://127\\.0\\.0\\.1:${port} \\(ECONNREFUSED\\)\\.\\nStart it with npx aex serve`,
      ),
    ],
    [
      { ...env, AEX_DATA_DIR: join(folder, 'none') },
      /There is no operator token: .*none\/operator-token cannot be read/,
    ],
    [{ ...env, AEX_OPERATOR_TOKEN: 'wrong' }, /does not accept the operator token from AEX_OPERATOR_TOKEN/],
    [{ ...env, AEX_OPERATOR_TOKEN: 'two words' }, /is not an operator token/],
    [{ ...env, AEX_OPERATOR_URL: 'http://exchange.example' }, /unencrypted/],
    [{ ...env, AEX_OPERATOR_URL: 'nonsense' }, /must be an http\(s\) address/],
  ]
  for (const [given, expected] of cases) {
    const { code, stdout, stderr } = await aexAt({ env: given }, 'org', 'list', '--json')
    assert.equal(code, 1)
    assert.equal(stdout, '')
    assert.match(stderr, expected)
    assert.ok(!stderr.includes('    at ') && !stderr.includes(token))
  }
  const conflict = await aex('org', 'create', 'org_acme', '--name', 'Again')
  assert.match(conflict.stderr, /^org_acme exists already \(identifier_conflict\)\./)
  const invalid = await aex('org', 'create', 'acme', '--name', 'x')
  assert.match(
    invalid.stderr,
    /\(validation_failed\)\.\n {2}\/organization_id {2}Write an identifier that starts with "org_"/,
  )
  const state = await aex('connector', 'suspend', '--org', 'org_acme', '--connector', 'edc/1 ä')
  assert.match(state.stderr, /\(invalid_state_transition\)\.\n {2}state: revoked/)
})

// Node reads that variable when it starts, so these two run as a person runs them.
test('over TLS the certificate has to be trusted, and NODE_EXTRA_CA_CERTS is how', async () => {
  const authority = await testAuthority()
  await using secure = await startWorld({
    config: { tls: { ...(await authority.server()), clientCa: undefined } },
  })
  const hash = createHash('sha256').update('a-token').digest()
  await secure.sql`insert into operator (name, token_hash, created_at) values ('tls', ${hash}, now())`
  const tlsEnv = { ...env, AEX_OPERATOR_URL: secure.operatorUrl, AEX_OPERATOR_TOKEN: 'a-token' }
  const untrusted = await runAex(['org', 'list'], { env: tlsEnv })
  assert.equal(untrusted.code, 1)
  assert.match(untrusted.stderr, /cannot be trusted \([A-Z_]+\)\. Set NODE_EXTRA_CA_CERTS/)
  const NODE_EXTRA_CA_CERTS = await file('ca.pem', authority.certificate)
  const trusted = await runAex(['org', 'list'], { env: { ...tlsEnv, NODE_EXTRA_CA_CERTS } })
  assert.equal(trusted.code, 0, trusted.stderr)
  assert.match(trusted.stdout, /org_platform/)
})
