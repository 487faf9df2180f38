import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, test } from 'node:test'
import { DEFAULT_PROFILE } from '@agent-exchange/protocol'
import { testAuthority } from '@agent-exchange/testkit'
import { anyText } from '@agent-exchange/testkit/any-text'
import fc from 'fast-check'
import { ConfigError, describeConfig, readConfig, showConfig, type Environment } from './index.ts'

const folder = mkdtempSync(join(tmpdir(), 'aex-config-'))
after(() => rmSync(folder, { recursive: true }))

function file(name: string, content: string): string {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}

const authority = await testAuthority()
const first = await authority.server()
const second = await authority.server()
const cert = file('cert.pem', first.certificate)
const key = file('key.pem', first.key)
const otherKey = file('other-key.pem', second.key)
const empty = file('empty.pem', 'nothing here\n')
const MASTER_KEY = 'ab'.repeat(32)

function wrongIn(env: Environment): Record<string, string> {
  try {
    readConfig(env)
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error))
    return Object.fromEntries(error.settings.map(({ variable, message }) => [variable, message]))
  }
  return {}
}

test('an empty environment gives the documented defaults', () => {
  assert.deepEqual(readConfig({ AEX_HOST: '', AEX_PROFILE: '  ' }), {
    host: '127.0.0.1',
    port: 8080,
    operatorHost: '127.0.0.1',
    operatorPort: 8081,
    publicUrl: 'http://127.0.0.1:8080',
    dataDirectory: resolve('data'),
    databaseUrl: undefined,
    databaseReadUrl: undefined,
    databaseDirectUrl: undefined,
    tls: undefined,
    trustedProxies: [],
    issuer: undefined,
    profile: DEFAULT_PROFILE,
    webhook: { ca: undefined, allowPrivate: false },
    role: 'all',
    workers: 1,
    createsFirstOperator: true,
    masterKey: undefined,
    smtp: undefined,
    logLevel: 'info',
    operatorPublicUrl: undefined,
    operatorSignOn: undefined,
    witnesses: [],
    tracing: undefined,
  })
})

test('[AUTH-02] behind a declared proxy AEX_TLS_CLIENT_CA verifies forwarded certificates without TLS', () => {
  const config = readConfig({ AEX_TLS_CLIENT_CA: cert, AEX_TRUSTED_PROXIES: '10.0.0.5' })
  assert.equal(config.tls, undefined)
  assert.deepEqual(config.forwardedClientCa, { ca: first.certificate, caFile: cert })
  const shown = showConfig(config).find(({ name }) => name === 'AEX_TLS_CLIENT_CA')
  assert.equal(shown?.value, 'set')
})

test('every variable is read, including the files that it names', () => {
  const config = readConfig({
    AEX_HOST: '::',
    AEX_PORT: '443',
    AEX_TLS_CERT: cert,
    AEX_TLS_KEY: key,
    AEX_TLS_CLIENT_CA: cert,
    AEX_TRUSTED_PROXIES: '10.0.0.5, fd00::/8',
    AEX_PROXY_SECRET_FILE: file('proxy-secret', `${'ab'.repeat(32)}\n`),
    AEX_ISSUER: 'https://login.example/realms/x',
    AEX_PROFILE: file('profile.json', '{"O-15": {"maximum_limit": 200}}'),
    AEX_WEBHOOK_CA: cert,
    AEX_WEBHOOK_ALLOW_PRIVATE: 'true',
    AEX_ROLE: 'api',
    AEX_WORKERS: '4',
    AEX_FIRST_OPERATOR: 'false',
    AEX_MASTER_KEY: MASTER_KEY,
    DATABASE_URL: 'postgres://u:p@a.example:5432,b.example:5433/exchange?target_session_attrs=read-write',
    AEX_DATABASE_READ_URL: 'postgres://u:p@c.example/exchange',
    AEX_SMTP_URL: 'smtps://u:p@mail.example',
    AEX_ALERT_FROM: 'Exchange <alerts@exchange.example>',
    AEX_OPERATOR_PUBLIC_URL: 'https://console.example',
    AEX_OPERATOR_OIDC_ISSUER: 'https://login.example/realms/x',
    AEX_OPERATOR_OIDC_CLIENT_ID: 'console',
    AEX_OPERATOR_OIDC_CLIENT_SECRET_FILE: file('secret', 'of the client\n'),
    AEX_OPERATOR_OIDC_ROLES: 'realm_access.roles:aex admins=administrator, cn=ops=operator,*=viewer',
  })
  assert.equal(config.operatorPublicUrl, 'https://console.example')
  assert.deepEqual(config.operatorSignOn, {
    issuer: 'https://login.example/realms/x',
    clientId: 'console',
    clientSecret: 'of the client',
    roles: {
      claim: 'realm_access.roles',
      groups: [
        { group: 'aex admins', role: 'administrator' },
        { group: 'cn=ops', role: 'operator' },
        { group: '*', role: 'viewer' },
      ],
    },
  })
  assert.ok(!JSON.stringify(showConfig(config)).includes('of the client'))
  assert.equal(config.publicUrl, 'https://localhost')
  const files = { certificate: cert, key, clientCa: cert }
  assert.deepEqual(config.tls, { ...first, clientCa: first.certificate, files })
  assert.deepEqual(config.trustedProxies, ['10.0.0.5', 'fd00::/8'])
  assert.equal(config.proxySecret, 'ab'.repeat(32))
  assert.ok(!JSON.stringify(showConfig(config)).includes('ab'.repeat(32)))
  assert.equal(config.profile['O-15'].maximum_limit, 200)
  assert.deepEqual(config.webhook, { ca: first.certificate, caFile: cert, allowPrivate: true })
  assert.deepEqual(
    [config.role, config.workers, config.createsFirstOperator, config.masterKey?.length, config.smtp?.from],
    ['api', 4, false, 32, 'Exchange <alerts@exchange.example>'],
  )
})

const OIDC = {
  AEX_OPERATOR_OIDC_ISSUER: 'https://login.example',
  AEX_OPERATOR_OIDC_CLIENT_ID: 'console',
  AEX_OPERATOR_OIDC_ROLES: 'groups:*=viewer',
}
const refusals: [title: string, env: Environment, variable: string, says: RegExp][] = [
  ['certificate without key', { AEX_TLS_CERT: cert }, 'AEX_TLS_KEY', /private key of AEX_TLS_CERT/u],
  ['key without certificate', { AEX_TLS_KEY: key }, 'AEX_TLS_CERT', /certificate of AEX_TLS_KEY/u],
  ['client CA without TLS', { AEX_TLS_CLIENT_CA: cert }, 'AEX_TLS_CLIENT_CA', /mutual TLS needs TLS/u],
  ['a key of another certificate', { AEX_TLS_CERT: cert, AEX_TLS_KEY: otherKey }, 'AEX_TLS_KEY', /first/u],
  ['a missing file', { AEX_WEBHOOK_CA: join(folder, 'no') }, 'AEX_WEBHOOK_CA', /there is no such file/u],
  ['a folder', { AEX_WEBHOOK_CA: folder }, 'AEX_WEBHOOK_CA', /it is a folder/u],
  ['a file without certificate', { AEX_WEBHOOK_CA: empty }, 'AEX_WEBHOOK_CA', /no PEM certificate/u],
  ['SMTP without sender', { AEX_SMTP_URL: 'smtp://m.example' }, 'AEX_ALERT_FROM', /sender/u],
  ['sender without SMTP', { AEX_ALERT_FROM: 'a@b.example' }, 'AEX_SMTP_URL', /mail server/u],
  [
    'a web address as SMTP',
    { AEX_SMTP_URL: 'http://m', AEX_ALERT_FROM: 'a@b.c' },
    'AEX_SMTP_URL',
    /smtps:\/\//u,
  ],
  ['no master key for replicas', { DATABASE_URL: 'postgres://h/d' }, 'AEX_MASTER_KEY', /every replica/u],
  [
    'a replica of the embedded database',
    { AEX_DATABASE_READ_URL: 'postgres://h/d' },
    'AEX_DATABASE_READ_URL',
    /Set DATABASE_URL/u,
  ],
  ['a short master key', { AEX_MASTER_KEY: 'abc' }, 'AEX_MASTER_KEY', /32 random bytes.*base64url.*hex/u],
  [
    'a previous master key alone',
    { AEX_MASTER_KEY_PREVIOUS: MASTER_KEY },
    'AEX_MASTER_KEY_PREVIOUS',
    /set AEX_MASTER_KEY too/u,
  ],
  [
    'the same key twice',
    { AEX_MASTER_KEY: MASTER_KEY, AEX_MASTER_KEY_PREVIOUS: MASTER_KEY },
    'AEX_MASTER_KEY_PREVIOUS',
    /the same key/u,
  ],
  [
    'a setting that earlier releases had',
    { AEX_WAL_ARCHIVE: '/mnt/wal' },
    'AEX_WAL_ARCHIVE',
    /no longer archives/u,
  ],
  [
    'a missing master key file',
    { AEX_MASTER_KEY_FILE: '/no/such/file' },
    'AEX_MASTER_KEY_FILE',
    /there is no such file/u,
  ],
  [
    'another database',
    { DATABASE_URL: 'mysql://h/d', AEX_MASTER_KEY: MASTER_KEY },
    'DATABASE_URL',
    /postgres:/u,
  ],
  [
    'a direct address without a pooler',
    { AEX_DATABASE_DIRECT_URL: 'postgres://h/d' },
    'AEX_DATABASE_DIRECT_URL',
    /Set DATABASE_URL/u,
  ],
  [
    'a direct address that is the pooler',
    { DATABASE_URL: 'postgres://h/d', AEX_DATABASE_DIRECT_URL: 'postgres://h/d', AEX_MASTER_KEY: MASTER_KEY },
    'AEX_DATABASE_DIRECT_URL',
    /equals DATABASE_URL/u,
  ],
  [
    'a direct address of another kind',
    { DATABASE_URL: 'postgres://h/d', AEX_DATABASE_DIRECT_URL: 'mysql://h/d', AEX_MASTER_KEY: MASTER_KEY },
    'AEX_DATABASE_DIRECT_URL',
    /postgres:/u,
  ],
  [
    'a standby',
    { DATABASE_URL: 'postgres://h/d?target_session_attrs=standby', AEX_MASTER_KEY: MASTER_KEY },
    'DATABASE_URL',
    /needs the primary/u,
  ],
  ['a plain outside issuer', { AEX_ISSUER: 'http://login.example' }, 'AEX_ISSUER', /https/u],
  ['an issuer with a query', { AEX_ISSUER: 'https://login.example/?a' }, 'AEX_ISSUER', /RFC 8414/u],
  [
    'a console in clear',
    { AEX_OPERATOR_PUBLIC_URL: 'http://console.example' },
    'AEX_OPERATOR_PUBLIC_URL',
    /unencrypted/u,
  ],
  [
    'an identity provider without roles',
    { ...OIDC, AEX_OPERATOR_OIDC_ROLES: '' },
    'AEX_OPERATOR_OIDC_ROLES',
    /other AEX_OPERATOR_OIDC variables/u,
  ],
  [
    'roles without an identity provider',
    { AEX_OPERATOR_OIDC_ROLES: 'groups:*=viewer', AEX_OPERATOR_OIDC_CLIENT_ID: 'c' },
    'AEX_OPERATOR_OIDC_ISSUER',
    /other AEX_OPERATOR_OIDC variables/u,
  ],
  [
    'an unknown role',
    { ...OIDC, AEX_OPERATOR_OIDC_ROLES: 'groups:admins=root' },
    'AEX_OPERATOR_OIDC_ROLES',
    /CLAIM:GROUP=ROLE/u,
  ],
  [
    'a plain outside identity provider',
    { ...OIDC, AEX_OPERATOR_OIDC_ISSUER: 'http://login.example' },
    'AEX_OPERATOR_OIDC_ISSUER',
    /https/u,
  ],
  [
    'an empty client secret',
    { ...OIDC, AEX_OPERATOR_OIDC_CLIENT_SECRET_FILE: file('empty-secret', ' \n') },
    'AEX_OPERATOR_OIDC_CLIENT_SECRET_FILE',
    /is empty/u,
  ],
  [
    'an identity provider that could not send browsers back',
    { ...OIDC, AEX_TLS_CERT: cert, AEX_TLS_KEY: key, AEX_OPERATOR_HOST: '0.0.0.0' },
    'AEX_OPERATOR_PUBLIC_URL',
    /sends browsers back/u,
  ],
  ['port 0', { AEX_PORT: '0' }, 'AEX_PORT', /1 to 65535/u],
  ['a port in words', { AEX_OPERATOR_PORT: '80a' }, 'AEX_OPERATOR_PORT', /1 to 65535/u],
  ['one port for both', { AEX_PORT: '8081' }, 'AEX_OPERATOR_PORT', /Use another port/u],
  ['an unknown role', { AEX_ROLE: 'boss' }, 'AEX_ROLE', /all, api, worker/u],
  ['no workers', { AEX_WORKERS: '0' }, 'AEX_WORKERS', /from 1 to/u],
  ['a flag in words', { AEX_WEBHOOK_ALLOW_PRIVATE: 'maybe' }, 'AEX_WEBHOOK_ALLOW_PRIVATE', /true or false/u],
  ['a proxy by name', { AEX_TRUSTED_PROXIES: '10.0.0.1,proxy' }, 'AEX_TRUSTED_PROXIES', /"proxy"/u],
  ['a network too narrow', { AEX_TRUSTED_PROXIES: '10.0.0.1/33' }, 'AEX_TRUSTED_PROXIES', /neither/u],
  [
    'a proxy secret without proxies',
    { AEX_PROXY_SECRET_FILE: file('proxy-secret', 'ab'.repeat(32)) },
    'AEX_TRUSTED_PROXIES',
    /Name the proxies/u,
  ],
  [
    'a proxy secret that is easily guessed',
    { AEX_TRUSTED_PROXIES: '10.0.0.1', AEX_PROXY_SECRET_FILE: file('short-secret', 'sesame') },
    'AEX_PROXY_SECRET_FILE',
    /32 to 512 visible/u,
  ],
  ['an address with a port', { AEX_HOST: '127.0.0.1:80' }, 'AEX_HOST', /without a port/u],
  ['a public path', { AEX_PUBLIC_URL: 'https://e.example/api' }, 'AEX_PUBLIC_URL', /scheme, host and port/u],
  [
    'a plain public address with TLS',
    { AEX_PUBLIC_URL: 'http://e.example', AEX_TLS_CERT: cert, AEX_TLS_KEY: key },
    'AEX_PUBLIC_URL',
    /https/u,
  ],
  ['a profile that is no JSON', { AEX_PROFILE: empty }, 'AEX_PROFILE', /not usable JSON/u],
  [
    'a profile with a wrong point',
    { AEX_PROFILE: file('bad.json', '{"O-15": {"maximum_limit": "x"}, "O-77": {}}') },
    'AEX_PROFILE',
    /\/O-77 [^]*\/O-15\/maximum_limit /u,
  ],
]

for (const [title, env, variable, says] of refusals) {
  test(`refused at start: ${title}`, () => {
    const wrong = wrongIn(env)
    assert.deepEqual(Object.keys(wrong), [variable])
    assert.match(wrong[variable] ?? '', says)
  })
}

test('listening beyond loopback needs TLS or, for the agent API only, a declared proxy', () => {
  const open = { AEX_HOST: '0.0.0.0', AEX_OPERATOR_HOST: 'exchange.example' }
  assert.deepEqual(Object.keys(wrongIn(open)), ['AEX_HOST', 'AEX_OPERATOR_HOST'])
  const proxied = wrongIn({ ...open, AEX_TRUSTED_PROXIES: '10.0.0.1' })
  assert.deepEqual(Object.keys(proxied), ['AEX_OPERATOR_HOST'])
  assert.match(proxied['AEX_OPERATOR_HOST'] ?? '', /for the agent API only/u)
  assert.deepEqual(wrongIn({ AEX_HOST: '0.0.0.0', AEX_TRUSTED_PROXIES: '10.0.0.1' }), {})
  assert.deepEqual(wrongIn({ ...open, AEX_TLS_CERT: cert, AEX_TLS_KEY: key }), {})
  for (const AEX_HOST of ['127.0.0.1', '127.8.9.1', '::1', 'localhost'])
    assert.deepEqual(wrongIn({ AEX_HOST }), {})
})

test('all invalid settings are reported at once', () => {
  const wrong = wrongIn({
    AEX_PORT: 'x',
    AEX_ROLE: 'x',
    AEX_WORKERS: 'x',
    AEX_TLS_CERT: cert,
    AEX_ISSUER: 'x',
  })
  assert.deepEqual(Object.keys(wrong).toSorted(), [
    'AEX_ISSUER',
    'AEX_PORT',
    'AEX_ROLE',
    'AEX_TLS_KEY',
    'AEX_WORKERS',
  ])
})

test('a master key may be hex or base64url, padded or not', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
      const buffer = Buffer.from(bytes)
      for (const text of [
        buffer.toString('hex'),
        buffer.toString('base64url'),
        `${buffer.toString('base64url')}=`,
      ])
        assert.deepEqual(readConfig({ AEX_MASTER_KEY: text }).masterKey, Uint8Array.from(bytes))
    }),
  )
})

test('any value of a variable yields a config or a list of invalid settings', () => {
  const names = describeConfig({}).map(({ name }) => name)
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...names), anyText), (env) => {
      wrongIn(env)
    }),
  )
})

test('aex config shows effective values and hides secrets', () => {
  const rows = describeConfig({
    AEX_MASTER_KEY: MASTER_KEY,
    DATABASE_URL: 'postgres://u:sesame@a.example:1,b.example:2/exchange?password=sesame',
    AEX_DATABASE_READ_URL: 'postgres://u:sesame@c.example/exchange',
    AEX_SMTP_URL: 'smtps://u:sesame@mail.example',
    AEX_PORT: '0',
  })
  const row = (name: string) => rows.find((each) => each.name === name)
  const shown = JSON.stringify(rows)
  assert.ok(!shown.includes('sesame') && !shown.includes(MASTER_KEY), shown)
  assert.match(
    row('DATABASE_URL')?.effective ?? '',
    /^postgres:\/\/u:hidden@a\.example:1,b\.example:2\/exchange/u,
  )
  assert.match(row('AEX_PORT')?.wrong[0] ?? '', /1 to 65535/u)
  assert.match(row('AEX_ALERT_FROM')?.wrong[0] ?? '', /sender/u)
  assert.deepEqual([row('AEX_ROLE')?.effective, row('AEX_ROLE')?.set], ['all', false])
  const publicUrl = describeConfig({}).find(({ name }) => name === 'AEX_PUBLIC_URL')
  assert.equal(publicUrl?.effective, 'http://127.0.0.1:8080')
})
