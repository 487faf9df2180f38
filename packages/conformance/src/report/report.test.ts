import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CheckResult } from '../run/check.ts'
import { observe, observeLine } from '../wire/observed.ts'
import { badgeOf } from './badge.ts'
import { commandOf, curlOf } from './curl.ts'
import { htmlOf } from './html.ts'
import { junitOf } from './junit.ts'
import { countsOf, exitCodeOf, isPassed, type Report, reportOf } from './report.ts'
import { tableOf } from './table.ts'

const requirements = ['PKG-09', 'PKG-10', 'PKG-11', 'PKG-12'].map((id) => ({
  id,
  sentence: `The sentence of ${id}, which is long enough to be cut at the edge of a terminal with 80 columns.`,
  judgedOf: ['service' as const],
}))
const token = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl'
const secret = 'a-private-member'
const answer = {
  request: {
    method: 'POST',
    url: 'https://exchange.example/v1/agents/register?x=1',
    headers: { authorization: `Bearer ${token}`, 'x-correlation-id': "it's" },
    hasOwnToken: true,
    body: JSON.stringify({ keys: [{ public_key: { kty: 'EC', d: secret } }], note: '<script>' }),
  },
  status: 422,
  headers: { 'content-type': 'application/problem+json', 'set-cookie': 'session=1' },
  bytes: new Uint8Array(),
  text: JSON.stringify({ code: 'private_key_refused', details: { access_token: token } }),
  body: {},
}
const result = (
  name: string,
  ids: string[],
  verdict: CheckResult['verdict'],
  reason?: string,
): CheckResult => ({
  name,
  ids,
  title: `the title of ${name} <b>`,
  verdict,
  ...(reason !== undefined && { reason }),
  milliseconds: 12,
  openPoints: [{ id: 'O-11', observed: `${name}: 422` }],
  observed: [observe(answer)],
})
const report: Report = reportOf({
  subject: 'service',
  judged: 'https://exchange.example',
  version: '0.1.0',
  seed: 'abc',
  finishedAt: '2026-11-18T12:00:00Z',
  requirements,
  results: [
    result('one', ['PKG-09', 'PKG-10'], 'pass'),
    result('two', ['PKG-10'], 'fail', 'it was "accepted" & stored'),
    result('three', ['PKG-11'], 'skipped', 'there is no hook restart'),
  ],
})
const forms = [tableOf(report, { colors: false }), junitOf(report), htmlOf(report), JSON.stringify(report)]

test('the verdict of a requirement is the worst of its checks', () => {
  const verdicts = report.verdicts.map(({ requirement, verdict }) => [requirement.id, verdict])
  assert.deepEqual(verdicts, [
    ['PKG-09', 'pass'],
    ['PKG-10', 'fail'],
    ['PKG-11', 'skipped'],
    ['PKG-12', 'not judged'],
  ])
  assert.deepEqual(countsOf(report), { passed: 1, failed: 1, errors: 0, skipped: 1, notJudged: 1 })
  assert.equal(isPassed(report), false)
})

test('no form of a report holds a token, a cookie or a private member', () => {
  for (const text of forms) {
    assert.ok(!text.includes(token))
    assert.ok(!text.includes(secret))
    assert.ok(!text.includes('session=1'))
  }
})

test('the table fits 80 columns, apart from commands to copy', () => {
  const [table = ''] = forms
  const lines = table.split('\n').filter((line) => !/^ {2,}(?:curl|-X|-H|--data|')/u.test(line))
  assert.deepEqual(
    lines.filter((line) => line.length > 80),
    [],
  )
  assert.match(table, /^✖ PKG-10/mu)
  assert.match(table, /O-11 {2}open point, observed: one: 422; two: 422; three: 422/u)
  assert.match(table, /1 passed, 1 failed, 0 not completed, 1 skipped\n1 not judged of this service/u)
})

test('JUnit and the page escape what they show', () => {
  const [, junit = '', html = ''] = forms
  assert.match(junit, /<testsuites tests="4" failures="1" errors="0" skipped="1">/u)
  assert.match(junit, /<failure message="it was &quot;accepted&quot; &amp; stored"\/>/u)
  assert.ok(!html.includes('<script>'))
  assert.ok(!html.includes('title of one <b>'))
  assert.match(html, /open point, observed: one: 422/u)
})

test('a curl command quotes its words and takes the token from the environment', () => {
  const command = curlOf(observe(answer))
  assert.match(command, /-H "Authorization: Bearer \$ACCESS_TOKEN"/u)
  assert.match(command, /-H 'x-correlation-id: it'\\''s'/u)
  assert.match(command, /'https:\/\/exchange\.example\/v1\/agents\/register\?x=1'/u)
})

test('opaque tokens, escaped JSON and further credentials are removed', () => {
  const opaque = 'b64token-that-has-no-form-of-its-own'
  const inner = JSON.stringify({ d: 'hidden-1', note: 'shown', client_secret: 'hid"den-2' })
  const {
    headers,
    body,
    answer: text,
  } = observe({
    ...answer,
    request: {
      ...answer.request,
      headers: { authorization: `Bearer ${opaque}` },
      body: `client_secret=hidden-3&refresh_token=hidden-4&scope=shown`,
    },
    text: JSON.stringify({
      echoed: opaque,
      refresh_token: 'hidden-5',
      inner,
      twice: JSON.stringify({ inner }),
    }),
  })
  const all = JSON.stringify([headers, body, text])
  assert.doesNotMatch(all, /hidden|hid.{0,8}den/u)
  assert.ok(!all.includes(opaque))
  assert.equal(all.match(/shown/gu)?.length, 3)
})

test('a command says where it cannot repeat a request, and never uses the right token for an altered one', () => {
  const sent = (headers: Record<string, string>, body?: string, hasOwnToken = false) =>
    curlOf(
      observe({
        ...answer,
        connection: { hasAuthority: true, hasCertificate: true },
        request: { ...answer.request, headers, hasOwnToken, ...(body === undefined ? {} : { body }) },
      }),
    )
  const altered = sent({ authorization: `Bearer ${token.slice(0, -1)}` })
  assert.match(altered, /Bearer \$ALTERED_TOKEN/u)
  assert.doesNotMatch(altered, /ACCESS_TOKEN/u)
  assert.match(altered, /--cacert "\$CA_FILE" .*\n.*--cert "\$CERTIFICATE_FILE" --key "\$KEY_FILE"/u)
  assert.match(altered, /^# not the same request: a secret was removed from the body\n/u)
  assert.match(sent({ authorization: 'Bearer not-a-token' }), /-H 'authorization: Bearer not-a-token'/u)
  const long = JSON.stringify({ payload: 'A'.repeat(20_000) })
  assert.ok(sent({}, long).includes(long))
})

test('a line to a program is shown with its answer, without secrets, and as a command', () => {
  const line = observeLine(
    { command: 'open', package_id: "it's" },
    { opened: true, client_jwk: { d: secret } },
  )
  assert.equal(commandOf(line), `printf '%s\\n' '{"command":"open","package_id":"it'\\''s"}'`)
  const hidden = observeLine({ key: { d: secret } }, {})
  assert.match(commandOf(hidden), /^# not the same line: a secret was removed/u)
  const failed = { ...result('one', ['PKG-09'], 'fail', 'it opened'), observed: [line, hidden] }
  const shown = { ...report, verdicts: reportOf({ ...report, requirements, results: [failed] }).verdicts }
  const page = htmlOf(shown)
  assert.ok(page.includes('&quot;opened&quot;:true') && !page.includes(secret))
})

test('the credentials of a presigned address are removed, and a path without an origin is shown', () => {
  const url = 'https://store.example/object?X-Amz-Signature=abc123&X-Amz-Credential=key&part=1'
  const shown = observe({ ...answer, request: { ...answer.request, url } }).url
  assert.equal(shown, url.replace('abc123', '[removed]').replace('=key&', '=[removed]&'))
  const path = observe({ ...answer, request: { method: 'GET', url: 'tile/0/000', headers: {} } })
  const failed = { ...result('one', ['PKG-09'], 'fail', 'x'), observed: [path] }
  assert.ok(htmlOf(reportOf({ ...report, requirements, results: [failed] })).includes('GET tile/0/000'))
})

test('with --only, only failures of the wanted requirements are shown', () => {
  const results = [
    { ...result('one', ['PKG-09', 'PKG-10'], 'fail', 'it broke the other one'), broken: ['PKG-10'] },
    result('two', ['PKG-09'], 'pass'),
  ]
  const only = reportOf({ ...report, requirements: requirements.slice(0, 1), results })
  assert.doesNotMatch(tableOf(only, { colors: false }), /it broke|PKG-10/u)
  assert.equal(exitCodeOf(only), 0)
})

test('what could not be judged is no pass', () => {
  const of = (...verdicts: CheckResult['verdict'][]) =>
    exitCodeOf(
      reportOf({
        ...report,
        requirements,
        results: verdicts.map((verdict, at) => result(String(at), ['PKG-09'], verdict, 'x')),
      }),
    )
  assert.deepEqual([of('pass'), of('pass', 'skipped'), of('fail', 'error')], [0, 0, 1])
  assert.deepEqual([of('pass', 'error'), of('skipped'), of()], [2, 2, 2])
})

test('a badge names version, date, profile and result, and is green only if nothing failed', () => {
  const text = 'aex-conformance 0.1.0, 2026-11-18, default profile: 1 passed, 1 failed'
  const badge = badgeOf({ ...report, profile: 'default' })
  assert.ok(badge.includes(`<title>${text}</title>`))
  assert.ok(badge.includes('#a40e26') && !badge.includes('#116329'))
})

test('checks that failed for one reason are one entry of the table', () => {
  const reason = (digit: string) => `a valid package: POST /v1/packages/pkg_${digit.repeat(32)} answered 500`
  const many = reportOf({
    ...report,
    requirements,
    results: ['1', '2', '3'].map((digit) => result(`check ${digit}`, ['PKG-09'], 'fail', reason(digit))),
  })
  const table = tableOf(many, { colors: false })
  assert.equal(table.match(/a valid package: POST/gu)?.length, 1)
  assert.match(table, /\(3 checks\)/u)
})
