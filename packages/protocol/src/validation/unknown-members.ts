import { nameOf, schemaNamed, schemaNames, toJson, type Json, type Named } from '../schema/define.ts'

/** The keywords of our schemas that define members. */
interface SchemaPart {
  readonly $ref?: string
  readonly properties?: Readonly<Record<string, SchemaPart>>
  readonly additionalProperties?: unknown
  readonly items?: SchemaPart
}

/** O-29: a copy without the unknown members of closed objects. */
export function withoutUnknownMembers(schema: Named<unknown>, value: unknown): unknown {
  return known(schema, value)
}

function known(part: SchemaPart, value: unknown): unknown {
  if (part.$ref !== undefined) return known(schemaNamed(nameOf(part as Named<unknown>)), value)
  if (typeof value !== 'object' || value === null) return value
  const { items, properties, additionalProperties } = part
  if (Array.isArray(value)) return items ? value.map((item) => known(items, item)) : value
  if (!properties || additionalProperties !== false) return value
  const members = Object.entries(value).flatMap(([name, inner]: [string, unknown]) => {
    const member = Object.hasOwn(properties, name) ? properties[name] : undefined
    return member ? [[name, known(member, inner)] as const] : []
  })
  return Object.fromEntries(members)
}

const namesOfMembers = new Set<string>()

/** Whether any named schema has a member of this name. Such a name is not content of a caller. */
export function isMemberName(name: string): boolean {
  if (namesOfMembers.size === 0) for (const schema of schemaNames()) collect(toJson(schemaNamed(schema)))
  return namesOfMembers.has(name)
}

function collect(part: Json): void {
  if (typeof part !== 'object' || part === null) return
  const properties = Array.isArray(part) ? undefined : part['properties']
  if (typeof properties === 'object' && properties !== null)
    for (const name of Object.keys(properties)) namesOfMembers.add(name)
  for (const inner of Object.values(part)) collect(inner)
}
