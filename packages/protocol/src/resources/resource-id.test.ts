import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operationExamples } from '../operations/examples/index.ts'
import type { Named } from '../schema/define.ts'
import { resourceId } from '../schema/shared.ts'
import { validatorOf } from '../validation/validator.ts'
import { notificationEnvelope } from './notifications.ts'
import { packageMetadata, packageReceiptRequest } from './packages.ts'
import { policyReceipt } from './policy-receipts.ts'

const ALL_CHARACTERS = Array.from({ length: 0x7e - 0x20 }, (_, index) => String.fromCharCode(0x21 + index))
const REFUSED = new Set(['/', '?', '#', '%'])

const accepts = (text: string) => validatorOf(resourceId).accepts(text)

test('[OBJ-01][O-14] ids of packages and receipts are visible ASCII without / ? # %, whatever their prefix', () => {
  for (const character of ALL_CHARACTERS) {
    assert.equal(accepts(`a${character}b`), !REFUSED.has(character), character)
    assert.equal(accepts(character), !REFUSED.has(character) && character !== '.', character)
  }
  for (const id of ['7', 'urn:uuid:f81d4fae', 'pkg_1', '...', '.a', '..a', 'a.', '-', "$(x)'`"])
    assert.ok(accepts(id), id)
  for (const id of ['', '.', '..', ' ', 'a b', 'a\n', '\u007f', 'é', 'a\u0000', '…'])
    assert.ok(!accepts(id), JSON.stringify(id))
})

test('[OBJ-01][PKG-01][POL-02][PKG-08][EVT-02] every resource takes such ids, and thread_id stays a threadId', () => {
  const receipt = requestOf(operationExamples.createPolicyReceipt)
  const statement = requestOf(operationExamples.createPackageReceipt)
  const notification = itemsOf(operationExamples.listNotifications.response)
  const metadata = metadataOf(operationExamples.getPackage.response)
  const id = '7~urn:uuid:f81d4fae'
  const takes = (schema: Named<unknown>, value: object, member: string) => {
    assert.deepEqual(validatorOf(schema)({ ...value, [member]: id }), [], member)
    const [failure] = validatorOf(schema)({ ...value, [member]: 'a/b' })
    assert.deepEqual([failure?.pointer, failure?.rule], [`/${member}`, 'O-14'])
  }
  for (const member of ['package_id', 'policy_receipt_id', 'responds_to_package_id'])
    takes(packageMetadata, metadata, member)
  for (const member of ['package_id', 'policy_receipt_id']) takes(policyReceipt, receipt, member)
  takes(packageReceiptRequest, statement, 'receipt_id')
  takes(notificationEnvelope, notification, 'package_id')
  for (const [schema, value] of [
    [packageMetadata, metadata],
    [policyReceipt, receipt],
    [notificationEnvelope, notification],
  ] as const)
    assert.equal(validatorOf<unknown>(schema)({ ...value, thread_id: id })[0]?.rule, 'OBJ-01')
})

const requestOf = ({ requests }: { requests?: Readonly<Record<string, object>> }) =>
  Object.values(requests ?? {})[0] ?? assert.fail()
const itemsOf = (page: object) => (page as { items: readonly object[] }).items[0] ?? assert.fail()
const metadataOf = (resource: object) => (resource as { metadata: object }).metadata
