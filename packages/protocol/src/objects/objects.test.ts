import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { ANNOTATIONS } from '../schema/annotations.ts'
import { schemaDocument, schemaNames } from '../schema/define.ts'
import { OBJECT_TYPES } from '../schema/shared.ts'
import { validateObject } from '../validation/validate-object.ts'
import { exampleObjects } from './examples.ts'

const REQUIRED_COUNTS = {
  reasoning_package: 19,
  response_object: 13,
  policy_envelope: 17,
  loop_thread: 14,
  network_story: 16,
  audit_event: 12,
} as const

test('[OBJ-05][OBJ-06][OBJ-07][OBJ-08][OBJ-09][OBJ-10] the schemas themselves require 19, 13, 17, 14, 16 and 12 members', () => {
  for (const type of OBJECT_TYPES) {
    assert.equal((schemaDocument(type)['required'] as string[]).length, REQUIRED_COUNTS[type], type)
  }
})

test('[OBJ-05][OBJ-06][OBJ-07][OBJ-08][OBJ-09][OBJ-10] the example of each type is valid', () => {
  for (const type of OBJECT_TYPES) assert.deepEqual(validateObject(exampleObjects[type]).failures, [], type)
})

test('[OBJ-03] each of the six objects is refused without any one required member, with a pointer to it', () => {
  for (const type of OBJECT_TYPES) {
    for (const member of schemaDocument(type)['required'] as string[]) {
      const { [member]: _removed, ...rest } = exampleObjects[type] as Record<string, unknown>
      const { failures } = validateObject(rest)
      assert.deepEqual(
        failures.map(({ pointer }) => pointer),
        [`/${member}`],
        `${type} without ${member}`,
      )
    }
  }
})

test('[OBJ-03] all objects except policy_envelope have a thread_id', () => {
  const without = OBJECT_TYPES.filter(
    (type) => !(schemaDocument(type)['required'] as string[]).includes('thread_id'),
  )
  assert.deepEqual(without, ['policy_envelope'])
  const [failure] = validateObject({ ...exampleObjects.policy_envelope, thread_id: 'thread_a' }).failures
  assert.deepEqual([failure?.pointer, failure?.rule], ['/thread_id', 'OBJ-04'])
})

test('[OBJ-04] hashes, signatures, routing and extra business data are refused at the top level of all six objects', () => {
  for (const type of OBJECT_TYPES) {
    for (const member of ['content_digest', 'signature', 'transport_mode', 'customer_name', '__proto__x']) {
      const { failures } = validateObject({ ...exampleObjects[type], [member]: 'value-under-test' })
      assert.deepEqual(
        failures.map(({ rule, pointer }) => [rule, pointer]),
        [['OBJ-04', `/${member}`]],
        type,
      )
      assert.ok(!JSON.stringify(failures).includes('value-under-test'))
    }
  }
})

test('[OBJ-04] a member named __proto__ is unknown too', () => {
  const text = JSON.stringify(exampleObjects.audit_event).replace('{', '{"__proto__":{"decision":"x"},')
  assert.deepEqual(
    validateObject(JSON.parse(text)).failures.map(({ rule }) => rule),
    ['OBJ-04'],
  )
})

test('[OBJ-18] every schema is valid Draft 2020-12 and compiles in strict mode on its own', () => {
  const ajv = new Ajv2020({ strict: true, formats: { 'date-time': true, uri: true } }).addVocabulary(
    ANNOTATIONS,
  )
  for (const name of schemaNames()) {
    const document = schemaDocument(name)
    assert.equal(document['$schema'], 'https://json-schema.org/draft/2020-12/schema')
    assert.ok(ajv.validateSchema(document), `${name}: ${ajv.errorsText()}`)
    ajv.compile(document)
  }
})
