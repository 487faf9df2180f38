import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openApiDocument } from '../operations/openapi.ts'
import { createProfile, DEFAULT_PROFILE } from './profile.ts'
import { profileChanges, PUBLISHED_PROFILE, readPublishedProfile } from './published-profile.ts'

test('[API-02] the OpenAPI document publishes the profile of its deployment, and it reads back', () => {
  const created = createProfile({ 'O-14': { request_bytes: 4_096 }, 'O-34': { passing_outcomes: ['ok'] } })
  assert.ok(created.ok)
  const document = JSON.parse(JSON.stringify(openApiDocument({ profile: created.profile }))) as object
  const read = readPublishedProfile(Reflect.get(document, PUBLISHED_PROFILE))
  assert.deepEqual(read, created.profile)
  assert.deepEqual(profileChanges(DEFAULT_PROFILE, created.profile), [
    { id: 'O-14', setting: 'request_bytes', before: 2_097_152, after: 4_096 },
    { id: 'O-34', setting: 'passing_outcomes', before: ['passed'], after: ['ok'] },
  ])
})

test('what an exchange of another version publishes is taken as far as it is known and valid', () => {
  const read = readPublishedProfile({
    'O-14': { request_bytes: 4_096, later_limit: 1 },
    'O-15': { maximum_limit: 'many' },
    'O-99': { anything: true },
    'O-28': 'P-256',
  })
  assert.equal(read?.['O-14'].request_bytes, 4_096)
  assert.deepEqual(read['O-15'], DEFAULT_PROFILE['O-15'])
  assert.deepEqual(read['O-28'], DEFAULT_PROFILE['O-28'])
  assert.deepEqual(readPublishedProfile({}), DEFAULT_PROFILE)
  for (const none of [undefined, null, 'x', []]) assert.equal(readPublishedProfile(none), undefined)
})
