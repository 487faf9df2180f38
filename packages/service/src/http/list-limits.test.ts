import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Failure } from '@agent-exchange/protocol'
import {
  assertProblem,
  assertSuccess,
  freshId,
  organizations,
  sendPackage,
  setScene,
  startWorld,
  type Answer,
} from '@agent-exchange/testkit'

const world = await startWorld({ config: { role: 'api' } })
after(() => world[Symbol.asyncDispose]())
const scene = await setScene(world)
const CANARY = 'canary5127'

const repeated = <T>(length: number, item: T): T[] => Array.from({ length }, () => item)
const members = (length: number) => Object.fromEntries(repeated(length, '1.0').entries())
const failuresOf = (answer: Answer) => {
  assertProblem(answer, 'validation_failed')
  const { failures } = answer.body['details'] as { failures: Failure[] }
  return failures.map(({ rule, pointer }) => [rule, pointer])
}

test('[O-14][ID-06] an oversized list is refused before keys and schemas are checked', async () => {
  const register = await scene.make('registerAgent')
  const receipt = await scene.make('createPolicyReceipt')
  const endpoint = await scene.make('createWebhookEndpoint')
  const cases: [Answer, string][] = [
    // The first key is private and all are invalid, so a check of the keys would give another problem.
    [await register.by.post(register.path, { keys: repeated(1_001, { public_key: { d: 1 } }) }), '/keys'],
    [await receipt.by.post(receipt.path, { ...receipt.body, checks: repeated(1_001, {}) }), '/checks'],
    [
      await endpoint.by.post(endpoint.path, { ...endpoint.body, event_types: repeated(1_001, 'x') }),
      '/event_types',
    ],
    [
      await register.by.post(register.path, { ...register.body, skill_versions: members(1_001) }),
      '/skill_versions',
    ],
    [await register.by.post(register.path, { ...register.body, ...members(1_001) }), ''],
    [await register.by.post(register.path, repeated(1_001, {})), ''],
  ]
  for (const [answer, pointer] of cases) assert.deepEqual(failuresOf(answer), [['O-14', pointer]])
})

test('[O-14] the limit counts values at all depths together', async () => {
  const { by, path, body } = await scene.make('registerAgent')
  const answer = await by.post(path, { ...body, keys: repeated(500, repeated(500, 0)) })
  assert.deepEqual(
    failuresOf(answer).map(([rule]) => rule),
    ['O-14'],
  )
})

test('[O-14][O-29][ERR-02] the pointer to an oversized list contains no member name of the caller', async () => {
  const { by, path, body } = await scene.make('registerAgent')
  const answer = await by.post(path, { ...body, [CANARY]: { keys: repeated(1_001, CANARY) } })
  assert.deepEqual(failuresOf(answer), [['O-14', '']])
  assert.equal(answer.text.includes(CANARY), false)
})

test('[O-14] the largest registration that the schema accepts passes all limits', async () => {
  const { by, path, body } = await scene.make('registerAgent')
  const long = (index: number) => String(index).padStart(256, 'x')
  const numbers = Array.from({ length: 1_000 }, (_, index) => index)
  const full = {
    ...body,
    skill_versions: Object.fromEntries(numbers.map((index) => [long(index), long(index)])),
    protocol_versions: ['svc/1.0', ...numbers.slice(1).map(long)],
  }
  assertSuccess(await by.post(path, full), 'registerAgent')
})

test('[O-14] a body without a package has a smaller limit than a package', async () => {
  const { by, path } = await scene.make('registerAgent')
  const answer = await by.post(path, { padding: 'x'.repeat(1_048_577) })
  assertProblem(answer, 'payload_too_large')
  assert.deepEqual(answer.body['details'], { maximum_bytes: 1_048_576 })
})

test('[O-14][POL-02] the limit counts entries of lists, not members of objects', async () => {
  await using narrow = await startWorld({ profile: { 'O-14': { list_items: 8 } }, config: { role: 'api' } })
  const [seats, cars] = await organizations(narrow, 'seats', 'cars')
  await sendPackage(seats, cars)
  const registration = { ...seats.registration(), agent_id: freshId('agent') }
  assertSuccess(
    await seats.post('/v1/agents/register', { ...registration, skill_versions: members(9) }),
    'registerAgent',
  )
  const nine = await seats.post('/v1/agents/register', {
    ...registration,
    protocol_versions: repeated(9, 'svc/1.0'),
  })
  assert.deepEqual(failuresOf(nine), [['O-14', '/protocol_versions']])
})

test('[O-14] the tokens of a body and of its payload are counted before anything is parsed', async (t) => {
  const { by, path, body } = await scene.make('registerAgent')
  const submit = await scene.make('createPackageTransfer')
  const many = Object.fromEntries(Array.from({ length: 90_000 }, (_, index) => [`m${index}`, 1]))
  const encoded = Buffer.from(JSON.stringify(many)).toString('base64url')
  const parse = t.mock.method(JSON, 'parse')
  const answers: [Answer, string][] = [
    [await by.post(path, { ...body, skill_versions: many }), '/skill_versions'],
    [await submit.by.post(submit.path, { ...(submit.body as object), payload: encoded }), '/payload'],
    [await submit.by.post(submit.path, { ...(submit.body as object), protected: encoded }), '/protected'],
  ]
  // The outer JSON of an envelope has three members, so it is parsed.
  const parsed = parse.mock.calls.map(({ arguments: [text] }) => text)
  assert.equal(
    parsed.some((text) => text.includes('m89999')),
    false,
  )
  parse.mock.restore()
  for (const [answer, pointer] of answers) assert.deepEqual(failuresOf(answer), [['O-14', pointer]])
})
