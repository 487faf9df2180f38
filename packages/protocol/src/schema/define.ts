import { Type, type Static, type TSchema, type TUnsafe } from 'typebox'

/**
 * One registry of named schemas. A definition is used everywhere as a `$ref`, so that a published file, the
 * OpenAPI document and a compiled validator all show the same name for the same thing.
 */
const registry = new Map<string, TSchema>()

/** A named schema in use: a JSON `$ref` that still carries its static type. */
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

/** A plain JSON value: what a schema is once TypeBox's own bookkeeping is left behind. */
export type Json = null | boolean | number | string | Json[] | { [member: string]: Json }
export type JsonObject = { [member: string]: Json }

export function toJson(schema: TSchema): JsonObject {
  return JSON.parse(JSON.stringify(schema)) as JsonObject
}

/** The names that a schema refers to, and those that they refer to, sorted. */
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

/** A self-contained Draft 2020-12 document: the schema, with everything it refers to beside it. */
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
