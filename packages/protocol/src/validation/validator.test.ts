import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { exampleObjects } from '../objects/examples.ts'
import { schemaDocument } from '../schema/define.ts'
import { OBJECT_TYPES } from '../schema/shared.ts'
import { policyReceipt, POLICY_CHECK_IDS } from '../resources/policy-receipts.ts'
import { publicKeyRequest } from '../resources/keys.ts'
import { createProfile } from '../profile/profile.ts'
import { validateObject } from './validate-object.ts'
import { validatorOf } from './validator.ts'

const anyType = fc.constantFrom(...OBJECT_TYPES)

/** Replaces an arbitrary value inside an object. */
const damage = fc.array(fc.tuple(fc.nat({ max: 200 }), fc.jsonValue()), { maxLength: 6 })

function damaged(value: unknown, changes: [number, unknown][]): Record<string, unknown> {
  const copy = structuredClone(value) as Record<string, unknown>
  for (const [choice, replacement] of changes) {
    const members = Object.keys(copy)
    const member = members[choice % members.length]
    if (member !== undefined && member !== 'object_type') copy[member] = replacement
  }
  return copy
}

test('[OBJ-03] the validator never throws, whatever the input', () => {
  fc.assert(
    fc.property(fc.anything({ withNullPrototype: true, withBigInt: true, withDate: true }), (value) => {
      assert.equal(typeof validateObject(value).valid, 'boolean')
    }),
  )
  fc.assert(
    fc.property(anyType, damage, (type, changes) => {
      const result = validateObject(damaged(exampleObjects[type], changes))
      assert.equal(result.valid, result.failures.length === 0)
      for (const failure of result.failures) assert.match(failure.rule, /^(OBJ|O)-\d\d$/)
    }),
  )
})

test('[OBJ-03] no object with one required member removed is ever accepted', () => {
  fc.assert(
    fc.property(anyType, fc.nat(), damage, (type, choice, changes) => {
      const required = schemaDocument(type)['required'] as string[]
      const removed = required[choice % required.length] ?? ''
      const { [removed]: _gone, ...rest } = damaged(exampleObjects[type], changes)
      assert.equal(validateObject(rest).valid, false, `${type} without ${removed}`)
    }),
  )
})

test('[OBJ-04] every failure is reported, not only the first', () => {
  const { failures } = validateObject({
    ...exampleObjects.reasoning_package,
    id: 'wrong',
    facts: [],
    confidence: { score: 7, basis: 1 },
    extra: true,
  })
  assert.deepEqual(failures.map(({ pointer }) => pointer).toSorted(), [
    '/confidence/basis',
    '/confidence/score',
    '/extra',
    '/facts',
    '/id',
  ])
})

test('[ERR-02] no message contains a value, and a request validator does not echo unknown names', () => {
  const secret = 'correct-horse-battery'
  const failures = validatorOf(publicKeyRequest)({
    key_id: 7,
    use: secret,
    format: secret,
    valid_from: secret,
    public_key: { kty: secret, crv: 'P-256', x: '*', y: '*', d: secret },
    [secret]: 1,
  })
  assert.ok(failures.length >= 6)
  assert.ok(!JSON.stringify(failures).includes(secret))
})

test('[ID-06] a private member of a JWK is refused under its own rule, without its value; other members are not', () => {
  const jwk = { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' }
  const key = { key_id: 'k', use: 'signing', format: 'jwk', valid_from: '2026-01-01T00:00:00Z' }
  const validate = validatorOf(publicKeyRequest)
  assert.deepEqual(
    validate({
      ...key,
      public_key: {
        ...jwk,
        kid: 'k',
        alg: 'ES256',
        use: 'sig',
        key_ops: ['verify'],
        ext: true,
        x5t: 'AA',
        iat: 1,
      },
    }),
    [],
  )
  for (const name of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']) {
    const failures = validate({ ...key, public_key: { ...jwk, [name]: 'secret' } })
    assert.deepEqual(
      failures.map(({ pointer, rule }) => [pointer, rule]),
      [['/public_key', 'ID-06']],
    )
    assert.ok(!JSON.stringify(failures).includes('secret'))
  }
})

test('[O-14] an empty name violates O-14, which is a rule of ours', () => {
  const failures = validatorOf(publicKeyRequest)({ key_id: '', replaces_key_id: '' })
  const empty = failures.filter(({ message }) => message.includes('must not be empty'))
  assert.deepEqual(
    empty.map(({ pointer, rule }) => [pointer, rule]),
    [
      ['/key_id', 'O-14'],
      ['/replaces_key_id', 'O-14'],
    ],
  )
})

test('[POL-02] a policy receipt lists each of the five checks once', () => {
  const check = (check_id: string) => ({ check_id, outcome: 'passed' })
  const failuresOf = (ids: readonly string[]) =>
    validatorOf(policyReceipt)({ checks: ids.map(check) }).filter(({ pointer }) =>
      pointer.startsWith('/checks'),
    )
  assert.deepEqual(failuresOf(POLICY_CHECK_IDS.toReversed()), [])
  const [first, ...others] = POLICY_CHECK_IDS
  const twice = failuresOf([others[0], ...others])
  assert.ok(
    twice.some(({ message, rule }) => message.includes(first) && rule === 'POL-02'),
    JSON.stringify(twice),
  )
  assert.equal(failuresOf(others).length > 0, true)
  assert.equal(failuresOf([...POLICY_CHECK_IDS, first]).length > 0, true)
})

test('a deployment can refuse additional phase contradictions, under O-01', () => {
  const result = createProfile({ 'O-01': { contradictions: [{ phase: 'responded', next: 'closed' }] } })
  assert.ok(result.ok)
  const failures = validateObject(exampleObjects.loop_thread, result.profile).failures
  assert.deepEqual(
    failures.map(({ rule, pointer }) => [rule, pointer]),
    [['O-01', '/lifecycle/allowed_next_phases/1']],
  )
})

test('at most 100 failures are reported, and only the first for a document with thousands of values', () => {
  const failuresOf = (length: number) =>
    validateObject({ ...exampleObjects.reasoning_package, facts: Array.from({ length }, () => 1) }).failures
  assert.equal(failuresOf(500).length, 100)
  assert.deepEqual(
    failuresOf(5_000).map(({ pointer }) => pointer),
    ['/facts/0'],
  )
})
