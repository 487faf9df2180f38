import { Type, type Static, type TSchema, type TUnsafe } from 'typebox'

/**
 * The registry of named schemas. A definition is always used as a `$ref`, so published files, the OpenAPI document and
 * compiled validators use the same names.
 */
const registry = new Map<string, TSchema>()

/** A `$ref` to a named schema, with its static type. */
export type Named<T> = TUnsafe<T> & { readonly $ref: string }

const LOCAL = '#/$defs/'

export function define<T extends TSchema>(name: string, schema: T): Named<Static<T>> {
  if (registry.has(name)) throw new Error(`schema ${name} is defined twice`)
  registry.set(name, schema)
  return Type.Unsafe<Static<T>>({ $ref: LOCAL + name }) as Named<Static<T>>
}

export function schemaNames(): string[] {
  return [...registry.keys()]
}

export function nameOf(reference: Named<unknown>): string {
  return reference.$ref.slice(LOCAL.length)
}

export function schemaNamed(name: string): TSchema {
  const schema = registry.get(name)
  if (!schema) throw new Error(`there is no schema ${name}`)
  return schema
}

/** A plain JSON value: a schema without the internal symbols of TypeBox. */
export type Json = null | boolean | number | string | Json[] | { [member: string]: Json }
export type JsonObject = { [member: string]: Json }

export function toJson(schema: TSchema): JsonObject {
  return JSON.parse(JSON.stringify(schema)) as JsonObject
}

/** The names that a schema refers to, transitively, sorted. */
export function namesReachedFrom(start: TSchema): string[] {
  const reached = new Set<string>()
  const visit = (value: Json): void => {
    if (Array.isArray(value)) return value.forEach(visit)
    if (value === null || typeof value !== 'object') return
    const target = value['$ref']
    if (typeof target === 'string' && target.startsWith(LOCAL)) {
      const name = target.slice(LOCAL.length)
      if (!reached.has(name)) {
        reached.add(name)
        visit(toJson(schemaNamed(name)))
      }
    }
    Object.values(value).forEach(visit)
  }
  visit(toJson(start))
  return [...reached].toSorted()
}

/** A self-contained Draft 2020-12 document: the schema and all schemas that it refers to. */
export function schemaDocument(name: string): JsonObject {
  const schema = schemaNamed(name)
  const definitions = namesReachedFrom(schema).map((reached) => [reached, toJson(schemaNamed(reached))])
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `${name}.schema.json`,
    title: name,
    ...toJson(schema),
    ...(definitions.length > 0 && { $defs: Object.fromEntries(definitions) as JsonObject }),
  }
}
