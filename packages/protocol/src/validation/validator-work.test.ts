import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { exampleObjects } from '../objects/examples.ts'
import { openPoints } from '../profile/open-points.ts'
import { agentRegistration } from '../resources/agents.ts'
import { nativePackageBody } from '../resources/packages.ts'
import { policyReceipt } from '../resources/policy-receipts.ts'
import { uniqueItems } from './unique-items.ts'
import { validateObject } from './validate-object.ts'
import { validatorOf } from './validator.ts'

const SMALL = 4_000
const LARGE = 40_000

/** Counts the array elements that were added or copied, as a measure of collected errors. */
function elementsMoved(work: () => unknown): number {
  const { push, concat } = Array.prototype
  let moved = 0
  Object.assign(Array.prototype, {
    push(this: unknown[], ...items: unknown[]) {
      moved += items.length
      return Reflect.apply(push, this, items)
    },
    concat(this: unknown[], ...lists: unknown[]) {
      moved += this.length
      return Reflect.apply(concat, this, lists)
    },
  })
  try {
    work()
  } finally {
    Object.assign(Array.prototype, { push, concat })
  }
  return moved
}

const wrongDocuments: [name: string, validate: (length: number) => unknown][] = [
  ['keys of nothing', (length) => validatorOf(agentRegistration)({ keys: listOf(length, {}) })],
  ['checks of nothing', (length) => validatorOf(policyReceipt)({ checks: listOf(length, {}) })],
  [
    'unknown members',
    (length) => validatorOf(policyReceipt)(Object.fromEntries(listOf(length, 0).entries())),
  ],
  [
    'facts of nothing',
    (length) => validateObject(changed('reasoning_package', { facts: listOf(length, {}) })),
  ],
  ['phases that contradict', (length) => validateObject(closedThread(listOf(length, 'responded')))],
]

for (const [name, validate] of wrongDocuments) {
  test(`[ERR-01][O-14] the number of collected failures is bounded: ${name}`, () => {
    validate(3)
    const [small, large] = [elementsMoved(() => validate(SMALL)), elementsMoved(() => validate(LARGE))]
    assert.ok(large <= small, `${small} elements moved for ${SMALL} entries, ${large} for ${LARGE}`)
    assert.ok(large < SMALL, `${large} elements moved for ${LARGE} entries`)
  })
}

test('[OBJ-12] the items of a network story are compared in linear time', () => {
  const reads = (length: number): number => {
    let count = 0
    const basis_refs = Array.from({ length }, (_, index) => ({
      get object_id() {
        count++
        return `pkg_${index}`
      },
      object_type: 'reasoning_package',
    }))
    assert.ok(validateObject(changed('network_story', { basis_refs })).valid)
    return count
  }
  const [small, large] = [reads(200), reads(2_000)]
  assert.ok(large <= 10 * small, `${small} reads for 200 entries, ${large} for 2,000`)
})

const entry = fc.oneof(
  fc.constantFrom<unknown>(null, true, 'true', 1, '1', '', [], {}),
  fc.dictionary(fc.constantFrom('a', 'b', '1'), fc.constantFrom<unknown>(null, 0, '0', 'a'), {
    noNullPrototype: true,
  }),
)

test('[OBJ-12] this validator and the built-in keyword agree on equal items', () => {
  const schema = { type: 'array', uniqueItems: true }
  const ours = new Ajv2020().removeKeyword('uniqueItems').addKeyword(uniqueItems).compile(schema)
  const others = new Ajv2020().compile(schema)
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 6 }), (entries) => assert.equal(ours(entries), others(entries))),
    { numRuns: 1_000 },
  )
})

function listOf<T>(length: number, item: T): T[] {
  return Array.from({ length }, () => item)
}

function changed(type: 'network_story' | 'reasoning_package', changes: object): object {
  return { ...exampleObjects[type], ...changes }
}

function closedThread(allowed_next_phases: string[]): object {
  const { lifecycle, ...thread } = exampleObjects.loop_thread
  return { ...thread, phase: 'closed', lifecycle: { ...lifecycle, allowed_next_phases } }
}

test('[O-14][PKG-01] a payload may be as long as any profile allows', () => {
  const longest: unknown = Reflect.get(openPoints['O-14'].settings.properties.request_bytes, 'maximum')
  assert.ok(typeof longest === 'number')
  const body = { protected: 'e30', payload: 'A'.repeat(longest), signature: 'A'.repeat(86) }
  assert.deepEqual(validatorOf(nativePackageBody)(body), [])
  assert.equal(validatorOf(nativePackageBody)({ ...body, payload: `${body.payload}*` }).length, 1)
})
