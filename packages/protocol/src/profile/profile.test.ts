import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { createProfile, DEFAULT_PROFILE } from './profile.ts'
import { OPEN_POINT_IDS, openPoints, type OpenPointId } from './open-points.ts'

test('every open point of the requirements has an entry with meaning, reason and a default for each setting', () => {
  const requirements = readFileSync(new URL('../../../../docs/requirements.md', import.meta.url), 'utf8')
  const listed = [...requirements.matchAll(/^- (O-\d\d)\b/gm)].map((match) => match[1] as OpenPointId)
  assert.ok(listed.length >= 37)
  assert.deepEqual(
    listed.filter((id) => !OPEN_POINT_IDS.includes(id)),
    [],
  )
  for (const id of OPEN_POINT_IDS) {
    const { meaning, why, settings } = openPoints[id]
    assert.ok(meaning.endsWith('.') && why.endsWith('.'), id)
    for (const [name, schema] of Object.entries(settings.properties)) {
      assert.ok(Reflect.has(schema, 'default') && Reflect.has(schema, 'description'), `${id} ${name}`)
    }
  }
})

test('the defaults are valid by their own schema, and cannot be changed by accident', () => {
  const result = createProfile({})
  assert.ok(result.ok)
  assert.deepEqual(result.profile, DEFAULT_PROFILE)
  assert.throws(() => Object.assign(DEFAULT_PROFILE['O-15'], { maximum_limit: 1 }), TypeError)
})

test('an override changes the settings it names and leaves the others', () => {
  const result = createProfile({ 'O-15': { maximum_limit: 250 } })
  assert.ok(result.ok)
  assert.deepEqual(result.profile['O-15'], { default_limit: 100, maximum_limit: 250 })
  assert.equal(DEFAULT_PROFILE['O-15'].maximum_limit, 1_000)
})

test('an override that cannot be meant is refused, with the place and what to do', () => {
  const cases: [override: unknown, pointer: string, rule: string][] = [
    [[], '', 'O-20'],
    [{ 'O-99': {} }, '/O-99', 'O-99'],
    [JSON.parse('{"__proto__": {}}'), '/__proto__', '__proto__'],
    [{ 'O-15': 5 }, '/O-15', 'O-15'],
    [{ 'O-15': { maximum: 5 } }, '/O-15/maximum', 'O-15'],
    [{ 'O-15': { maximum_limit: '5' } }, '/O-15/maximum_limit', 'O-15'],
    [{ 'O-14': { object_members: 20 } }, '/O-14/object_members', 'O-14'],
    [{ 'O-15': { maximum_limit: 0 } }, '/O-15/maximum_limit', 'O-15'],
    [{ 'O-15': { maximum_limit: 50 } }, '/O-15/default_limit', 'O-15'],
    [{ 'O-17': { content_digest_rules: [] } }, '/O-17/content_digest_rules', 'O-17'],
    [{ 'O-28': { encryption_curves: ['secp256k1'] } }, '/O-28/encryption_curves/0', 'O-28'],
    [{ 'O-29': { unknown_members: 'stored' } }, '/O-29/unknown_members', 'O-29'],
    [
      { 'O-16': { deprecated_at: '2027-01-01T00:00:00Z', sunset_at: '2026-01-01T00:00:00Z' } },
      '/O-16/sunset_at',
      'O-16',
    ],
  ]
  for (const [override, pointer, rule] of cases) {
    const result = createProfile(override)
    assert.ok(!result.ok, pointer)
    assert.deepEqual(
      result.failures.map((failure) => [failure.pointer, failure.rule]),
      [[pointer, rule]],
    )
  }
})
