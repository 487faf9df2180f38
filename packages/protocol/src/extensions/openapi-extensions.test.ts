import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { openApiDocument } from '../operations/openapi.ts'
import { DEFAULT_PROFILE } from '../profile/profile.ts'
import { extensionsDocument } from './openapi-extensions.ts'

test('[API-02] what is ours has a valid document of its own, and shares no path with the 21 operations', async () => {
  const document = extensionsDocument()
  const result = await new Validator().validate(structuredClone(document))
  assert.ok(result.valid, JSON.stringify(result))
  const own = Object.keys(document['paths'] as object)
  const protocol = Object.keys(openApiDocument()['paths'] as object)
  assert.deepEqual(
    own.filter((path) => protocol.includes(path) || path.startsWith('/v1/')),
    [],
  )
})

test('[O-07] a public log needs no token, and its proofs still do', () => {
  const securityOf = (id: string, isPublic: boolean) => {
    const profile = {
      ...DEFAULT_PROFILE,
      'O-07': { ...DEFAULT_PROFILE['O-07'], transparency_public: isPublic },
    }
    const paths = extensionsDocument({ profile })['paths'] as Record<string, { get: { security?: unknown } }>
    return paths[id]?.get.security
  }
  assert.deepEqual(securityOf('/log/checkpoint', true), [])
  assert.equal(securityOf('/log/checkpoint', false), undefined)
  assert.equal(securityOf('/log/records', true), undefined)
})
