import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { OPERATION_IDS, operations, pathParameters, type ProblemCode } from '@agent-exchange/protocol'
import {
  assertProblem,
  draftPackage,
  freshId,
  setScene,
  startWorld,
  submit,
  type Organization,
  type RequestOptions,
} from '@agent-exchange/testkit'

const LIMIT = 65_536
const world = await startWorld({
  profile: { 'O-13': { webhook_endpoints: 1_000 }, 'O-14': { request_bytes: LIMIT } },
  config: { role: 'api' },
})
after(() => world[Symbol.asyncDispose]())
const scene = await setScene(world)
const MUTATIONS = OPERATION_IDS.filter((id) => operations[id].mutation)
const CANARY = 'canary8391'

type Bad = [name: string, code: ProblemCode, options: (text: string) => RequestOptions]
const raw = (make: (text: string) => string | Uint8Array) => (text: string) => ({ raw: make(text) })
const withMember = (member: string) => raw((text) => `{${member},${text.slice(1)}`)
const header = (name: string, value: string | undefined) => (text: string) => ({
  raw: text,
  headers: { [name]: value },
})
const nested = (depth: number) => `"${CANARY}":${'['.repeat(depth)}${']'.repeat(depth)}`

const BAD: Bad[] = [
  ['empty', 'malformed_request', raw(() => '')],
  ['only white space', 'malformed_request', raw(() => ' \n')],
  ['cut off', 'malformed_request', raw((text) => text.slice(0, -1))],
  ['two documents', 'malformed_request', raw((text) => text + text)],
  ['duplicate member', 'malformed_request', withMember(`"${CANARY}":1,"${CANARY}":2`)],
  ['duplicate by escape', 'malformed_request', withMember(String.raw`"a${CANARY}":1,"\u0061${CANARY}":2`)],
  ['deep', 'malformed_request', withMember(nested(40))],
  ['very deep', 'malformed_request', withMember(nested(20_000))],
  [
    'invalid UTF-8',
    'malformed_request',
    raw((text) => Buffer.concat([Buffer.from(text), Buffer.from([0xc0, 0xaf])])),
  ],
  ['UTF-16', 'malformed_request', raw((text) => Buffer.from(text, 'utf16le'))],
  ['byte order mark', 'malformed_request', raw((text) => `\ufeff${text}`)],
  ['lone surrogate', 'malformed_request', withMember(String.raw`"${CANARY}":"\ud800"`)],
  ['lone surrogate in a name', 'malformed_request', withMember(String.raw`"${CANARY}\udc00":1`)],
  ['number out of range', 'malformed_request', withMember(`"${CANARY}":1e999`)],
  ['integer out of range', 'malformed_request', withMember(`"${CANARY}":9007199254740993`)],
  ['NaN', 'malformed_request', withMember(`"${CANARY}":NaN`)],
  ['comment', 'malformed_request', raw((text) => `/*${CANARY}*/${text}`)],
  ['unknown member', 'validation_failed', withMember(`"${CANARY}":"${CANARY}"`)],
  ['__proto__', 'validation_failed', withMember(`"__proto__":{"${CANARY}":1}`)],
  ['constructor', 'validation_failed', withMember(`"constructor":{"prototype":{"${CANARY}":1}}`)],
  ['toString', 'validation_failed', withMember(`"toString":"${CANARY}"`)],
  ['empty name', 'validation_failed', withMember(`"":"${CANARY}"`)],
  ['a list', 'validation_failed', raw((text) => `[${text}]`)],
  ['null', 'validation_failed', raw(() => 'null')],
  ['a text', 'validation_failed', raw(() => `"${CANARY}"`)],
  ['a number', 'validation_failed', raw(() => '7')],
  ['nothing in it', 'validation_failed', raw(() => '{}')],
  ['too large', 'payload_too_large', raw((text) => text.padEnd(LIMIT + 1))],
  ['form', 'media_type_unsupported', header('content-type', 'application/x-www-form-urlencoded')],
  ['text', 'media_type_unsupported', header('content-type', 'text/plain;charset=UTF-8')],
  ['other JSON', 'media_type_unsupported', header('content-type', 'application/problem+json')],
  ['two types', 'media_type_unsupported', header('content-type', 'text/plain, application/json')],
  [
    'no type',
    'media_type_unsupported',
    (text) => ({ raw: Buffer.from(text), headers: { 'content-type': undefined } }),
  ],
  [
    'gzip',
    'media_type_unsupported',
    (text) => ({ raw: gzipSync(text), headers: { 'content-encoding': 'gzip' } }),
  ],
  ['identity and gzip', 'media_type_unsupported', header('content-encoding', 'identity, gzip')],
]

test('[API-07][ERR-01][ERR-02] each kind of invalid body gets its problem, changes nothing and is not echoed', async (t) => {
  for (const id of MUTATIONS) {
    await t.test(id, async () => {
      const { body, path, by } = await scene.make(id)
      const before = await everything()
      for (const [name, code, options] of BAD) {
        const answer = await by.post(path, undefined, options(JSON.stringify(body)))
        assertProblem(answer, code, undefined, `${id}: ${name}`)
        assert.equal(answer.text.includes(CANARY), false, answer.text)
        if (code === 'payload_too_large') assert.deepEqual(answer.body['details'], { maximum_bytes: LIMIT })
      }
      assert.deepEqual(await everything(), before)
    })
  }
  assert.equal(world.logged.join('').includes(CANARY), false)
})

test('[API-07] white space, escapes, media type parameters, identity encoding and the largest permitted body are accepted', async () => {
  const good: Record<string, (text: string) => RequestOptions> = {
    'white space': raw((text) => ` \r\n\t${text}\n`),
    escapes: raw((text) => text.replace('"event_id"', String.raw`"\u0065vent_id"`)),
    largest: raw((text) => text.padEnd(LIMIT)),
    charset: header('content-type', 'application/json; charset=utf-8'),
    capitals: header('content-type', 'Application/JSON'),
    identity: header('content-encoding', 'identity'),
    'identity in capitals': header('content-encoding', 'Identity'),
  }
  for (const [name, options] of Object.entries(good)) {
    const { body, path, by } = await scene.make('acknowledgeNotification')
    const answer = await by.post(path, undefined, options(JSON.stringify(body)))
    assert.equal(answer.status, 200, `${name} ${answer.text}`)
  }
})

test('[ERR-02][O-29] member names inside a map are content and are not echoed', async () => {
  const { body, path, by } = await scene.make('registerAgent')
  for (const value of [7, 'x'.repeat(300), 'a\0b']) {
    const answer = await by.post(path, { ...body, skill_versions: { [CANARY]: value } })
    assertProblem(answer, 'validation_failed')
    assert.equal(answer.text.includes(CANARY), false, answer.text)
  }
})

test('[API-07][ID-06] NUL characters and texts above the limit are refused in every string member', async (t) => {
  for (const id of MUTATIONS) {
    await t.test(id, async () => {
      const { body, path, by } = await scene.make(id)
      const before = await everything()
      for (const pointer of texts(body)) {
        for (const value of ['a\0b', 'x'.repeat(5_000), '\u0000', '']) {
          const answer = await by.post(path, changed(body, pointer, value))
          const fits = value === '' && (answer.status < 300 || answer.status === 422)
          assert.ok(
            fits || (answer.status >= 400 && answer.status < 500),
            `${pointer.join('/')} ${answer.text}`,
          )
          if (answer.status < 300) return
        }
      }
      assert.deepEqual(await everything(), before)
    })
  }
})

test('[PKG-01][PKG-02] NUL characters and texts above the limit are refused inside a signed envelope too', async () => {
  const { sender, recipient } = scene
  for (const odd of ['a\0b', 'x'.repeat(5_000)]) {
    for (const member of [
      'skill_id',
      'skill_version',
      'protocol_version',
      'policy_receipt_id',
      'content_type',
    ]) {
      const draft = await draftPackage(sender, recipient, { metadata: { [member]: odd } })
      const answer = await sender.post('/v1/packages', draft.body)
      assertProblem(answer, 'validation_failed', undefined, member)
    }
    const renamed = (who: Organization, key: 'signing' | 'encryption') => ({
      ...who,
      [key]: { ...who[key], keyId: odd },
    })
    const drafts = [
      await draftPackage(renamed(sender, 'signing'), recipient),
      await draftPackage(sender, renamed(recipient, 'encryption')),
    ]
    for (const draft of drafts) {
      const codes = [
        'validation_failed',
        'signing_key_unusable',
        'encryption_key_unusable',
        'policy_receipt_missing',
      ]
      const answer = await sender.post('/v1/packages', draft.body)
      assert.ok(codes.includes(String(answer.body['code'])), answer.text)
    }
  }
})

const longest = (prefix: string) => `${prefix}_${freshId('').slice(1).padEnd(128, 'Z-')}`

test('[OBJ-01] identifiers of maximum length work in bodies and in paths', async () => {
  const { sender, recipient } = scene
  const draft = await draftPackage(sender, recipient, {
    threadId: longest('thread'),
    metadata: { package_id: longest('pkg'), policy_receipt_id: longest('receipt') },
  })
  const { package_id, thread_id, policy_receipt_id } = draft.metadata
  assert.equal((await submit(sender, draft)).status, 202)
  const paths = [`packages/${package_id}`, `threads/${thread_id}`, `policy-receipts/${policy_receipt_id}`]
  for (const path of [...paths, `audit/packages/${package_id}`, `audit/threads/${thread_id}`]) {
    assert.equal((await recipient.get(`/v1/${path}`)).status, 200, path)
  }
  const agent = { ...sender.registration(), agent_id: longest('agent') }
  assert.equal((await sender.post('/v1/agents/register', agent)).status, 201)
  assert.equal((await recipient.get(`/v1/directory/agents/${agent.agent_id}/keys`)).status, 200)
})

const ODD_IDS = [
  '%00',
  'a%00b',
  '..%2f..',
  '%2e%2e',
  'x'.repeat(257),
  'x'.repeat(4_000),
  '%F0%9F%92%A9',
  '%E0%A4',
  '%ED%A0%80',
  '%',
  "'%20or%201=1--",
  '%7b%7d',
  'null',
  '__proto__',
  '%20',
  '%0d%0aX-Injected:%201',
]

test('[ERR-01][API-01] an unknown id in a path is not found, whatever characters it contains', async (t) => {
  for (const id of OPERATION_IDS.filter((each) => pathParameters(operations[each].path).length > 0)) {
    await t.test(id, async () => {
      const { by, body } = await scene.make(id)
      for (const odd of ODD_IDS) {
        const path = operations[id].path.replaceAll(/\{\w+\}/g, odd)
        const answer = body === undefined ? await by.get(path) : await by.post(path, body)
        const codes = ['resource_not_found', 'signature_invalid', 'response_mismatch', 'not_permitted']
        assert.ok(codes.includes(String(answer.body['code'])), `${odd} ${answer.status} ${answer.text}`)
        assert.equal(answer.headers.get('x-injected'), null)
      }
    })
  }
})

/** Written by each token request, and by tasks that run every few seconds. */
const NOT_COMPARED = ['assertion_use', 'activity_minute', 'service_process', 'alert', 'log_state']

async function everything(): Promise<unknown> {
  const rows = await world.sql<{ name: string }[]>`
    select relname as name from pg_class
    where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace
      and relname <> all(${NOT_COMPARED}) order by relname`
  return Promise.all(
    rows.map(async ({ name }) => {
      const [row] =
        await world.sql`select md5(coalesce(string_agg(t::text, '' order by t::text), '')) from ${world.sql(name)} as t`
      return [name, row?.['md5']]
    }),
  )
}

/** The paths of all string members of a body. */
function texts(value: unknown, path: string[] = []): string[][] {
  if (typeof value === 'string') return [path]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => texts(inner, [...path, name]))
}

function changed(body: object | undefined, [name = '', ...rest]: string[], value: unknown): object {
  const copy = (Array.isArray(body) ? [...body] : { ...body }) as Record<string, unknown>
  copy[name] = rest.length === 0 ? value : changed(copy[name] as object, rest, value)
  return copy
}
