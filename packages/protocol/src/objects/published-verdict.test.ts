import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { OBJECT_TYPES } from '../schema/shared.ts'
import { formats } from '../validation/formats.ts'

const REPOSITORY = new URL('../../../../', import.meta.url)
const VECTORS = 'interop/vectors/objects'

interface Invalid {
  readonly rule: string
  readonly object: object
}

const read = (path: string): unknown => JSON.parse(readFileSync(new URL(path, REPOSITORY), 'utf8'))
const vectors = (folder: string) =>
  readdirSync(new URL(`${VECTORS}/${folder}/`, REPOSITORY)).map((name) =>
    read(`${VECTORS}/${folder}/${name}`),
  )

/** An independent validator that knows only the published files and the two formats. */
const ajv = new Ajv2020({ strict: false, formats })
const schemas = new Map<unknown, (object: object) => unknown>(
  OBJECT_TYPES.map((type) => [
    type,
    ajv.compile(read(`packages/protocol/schemas/${type}.schema.json`) as object),
  ]),
)
const accepts = (object: object) => schemas.get(Reflect.get(object, 'object_type'))?.(object) === true

test('[OBJ-18][OBJ-14][OBJ-16][OBJ-17] the published schemas refuse every invalid object, except where times are compared', () => {
  for (const object of vectors('valid')) assert.ok(accepts(object as object))
  const accepted = (vectors('invalid') as Invalid[]).filter(({ object }) => accepts(object))
  // JSON Schema cannot compare two members.
  assert.deepEqual([...new Set(accepted.map(({ rule }) => rule))], ['OBJ-13'])
})
