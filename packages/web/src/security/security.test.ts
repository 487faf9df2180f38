import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { equalsInConstantTime } from './constant-time.ts'
import { cookieHeader, cookieName, readCookie } from './cookie.ts'
import { csrfToken, isCsrfToken } from './csrf.ts'
import { loopbackOrigins, originFault } from './request-origin.ts'
import { contentSecurityPolicy, securityHeaders } from './security-headers.ts'

test('secrets of any length are compared', () => {
  assert.ok(equalsInConstantTime('abc', 'abc'))
  for (const other of ['', 'ab', 'abcd', 'abd', 'ABC']) assert.ok(!equalsInConstantTime('abc', other), other)
})

test('a CSRF token of another session, of another key, guessed, absent or repeated is refused', () => {
  const key = randomBytes(32)
  const token = csrfToken(key, 'session-1')
  assert.ok(isCsrfToken(key, 'session-1', token))
  const forged = [
    csrfToken(key, 'session-2'),
    csrfToken(randomBytes(32), 'session-1'),
    '',
    `${token}x`,
    token.slice(1),
  ]
  for (const given of [...forged, undefined, null, [token], { token }, 7])
    assert.ok(!isCsrfToken(key, 'session-1', given), JSON.stringify(given))
  assert.throws(() => csrfToken(key, ''), /needs a session/u)
  assert.throws(() => csrfToken(randomBytes(31), 'session-1'), /at least 32 bytes/u)
})

const cookie = { name: 'session', value: 'abc', tls: true, sameSite: 'Strict' } as const

test('a cookie is for this host alone, for no script, and over TLS for no plain connection', () => {
  assert.equal(cookieHeader(cookie), '__Host-session=abc; Path=/; HttpOnly; SameSite=Strict; Secure')
  assert.equal(
    cookieHeader({ ...cookie, tls: false, sameSite: 'Lax', maxAgeSeconds: 600 }),
    'session=abc; Path=/; HttpOnly; SameSite=Lax; Max-Age=600',
  )
})

test('a cookie value cannot add an attribute or a header', () => {
  for (const value of ['a; Domain=example', 'a\r\nSet-Cookie: b=c', 'a,b', 'a b', '"a"', 'ä'])
    assert.throws(() => cookieHeader({ ...cookie, value }), TypeError, value)
  assert.throws(() => cookieHeader({ ...cookie, name: 'a=b' }), TypeError)
  assert.throws(() => cookieHeader({ ...cookie, maxAgeSeconds: Number.NaN }), TypeError)
})

test('a session that another host planted beside ours signs nobody in', () => {
  const name = cookieName('session', false)
  assert.equal(readCookie('a=b; session=ours; c=d', name), 'ours')
  assert.equal(readCookie('session=planted; session=ours', name), undefined)
  // Over TLS only this host can set the prefixed name, so a plain one counts for nothing.
  assert.equal(readCookie('session=planted; __Host-session=ours', cookieName('session', true)), 'ours')
  for (const header of [
    undefined,
    '',
    'xsession=a',
    'session',
    'session=a b',
    `session=${'a'.repeat(9_000)}`,
  ])
    assert.equal(readCookie(header, name), undefined, header)
})

const desk = loopbackOrigins(4_100)
const from = (method: string, headers: Record<string, string>) => originFault({ method, headers }, desk)
const host = '127.0.0.1:4100'

test('DNS rebinding: a name of the attacker that resolves to this machine is refused', () => {
  for (const good of [host, 'localhost:4100', 'LOCALHOST:4100', '[::1]:4100'])
    assert.equal(from('GET', { host: good }), undefined)
  for (const bad of [
    'evil.example:4100',
    'evil.example',
    '127.0.0.1',
    '127.0.0.1:4101',
    'localhost.evil.example:4100',
    '',
  ])
    assert.equal(from('GET', { host: bad }), 'host_not_allowed', bad)
  assert.equal(from('GET', {}), 'host_not_allowed')
})

test('a request that another site makes is refused, also from a sandboxed frame or a sibling host', () => {
  for (const origin of [
    'https://evil.example',
    'null',
    'http://127.0.0.1:4101',
    'https://127.0.0.1:4100',
    '',
  ])
    assert.equal(from('POST', { host, origin }), 'origin_not_allowed', origin)
  assert.equal(from('POST', { host }), 'cross_site_request')
  const origin = `http://${host}`
  for (const site of ['cross-site', 'same-site', 'none'])
    assert.equal(from('POST', { host, origin, 'sec-fetch-site': site }), 'cross_site_request', site)
  assert.equal(from('POST', { host, 'sec-fetch-site': 'same-origin' }), undefined)
  assert.equal(from('POST', { host, origin, 'sec-fetch-site': 'same-origin' }), undefined)
  assert.equal(from('POST', { host, origin }), undefined)
  assert.equal(from('DELETE', { host, 'sec-fetch-site': 'cross-site' }), 'cross_site_request')
})

test('another site may link to a page, and may not load it into its own', () => {
  const site = { host, 'sec-fetch-site': 'cross-site' }
  assert.equal(from('GET', { ...site, 'sec-fetch-mode': 'navigate' }), undefined)
  assert.equal(from('GET', { ...site, 'sec-fetch-mode': 'no-cors' }), 'cross_site_request')
  assert.equal(
    from('GET', { ...site, 'sec-fetch-mode': 'cors', origin: 'https://evil.example' }),
    'origin_not_allowed',
  )
})

test('a host may spell out the default port', () => {
  const origins = { origins: ['https://console.example'] }
  assert.equal(originFault({ method: 'GET', headers: { host: 'console.example:443' } }, origins), undefined)
  assert.equal(
    originFault({ method: 'GET', headers: { host: 'console.example:80' } }, origins),
    'host_not_allowed',
  )
})

test('the policy has no inline code, no other origin and no frame', () => {
  assert.equal(
    contentSecurityPolicy(),
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  )
  assert.match(
    contentSecurityPolicy({ 'form-action': "'none'", 'trusted-types': "'none'" }),
    /form-action 'none'.*; trusted-types 'none'$/u,
  )
  const headers = securityHeaders({ tls: true })
  assert.equal(headers['x-frame-options'], 'DENY')
  assert.equal(headers['cache-control'], 'no-store')
  assert.match(headers['strict-transport-security'] ?? '', /^max-age=\d+$/u)
  assert.equal(securityHeaders({ tls: false })['strict-transport-security'], undefined)
})
