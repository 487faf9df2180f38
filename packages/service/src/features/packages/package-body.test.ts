import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dsxPackageBody, nativePackageBody } from '@agent-exchange/protocol'
import { packageSubmission } from './acceptance.ts'

test('[PKG-01] a manifest is checked by its schema, and an envelope by parsing it', () => {
  const { schemaOf } = packageSubmission
  assert.equal(schemaOf({ transport_mode: 'ds_x' }), dsxPackageBody)
  assert.equal(schemaOf({ payload: '', protected: '', signature: '' }), undefined)
  assert.equal(schemaOf({}), undefined)
  // Nothing that could be parsed: the schema says so.
  for (const body of [[], 'text', 1, null]) assert.equal(schemaOf(body), nativePackageBody)
})
