import type { ErrorObject } from 'ajv/dist/2020.js'
import { REQUIREMENT, type RequirementNote } from '../schema/annotations.ts'
import { pointerTo, type Failure } from './failure.ts'

export interface ExplainOptions {
  /** The default rule, if neither the schema nor its root names one. */
  readonly rule: string
  /** Name unknown members in the message. Off by default, because a name in a request may be content. */
  readonly nameUnknownMembers: boolean
}

interface NotedSchema {
  readonly description?: string
  readonly properties?: Readonly<Record<string, NotedSchema>>
  readonly [REQUIREMENT]?: RequirementNote
}

export function explain(error: ErrorObject, root: NotedSchema, options: ExplainOptions): Failure {
  const schema = (error.parentSchema ?? {}) as NotedSchema
  const missing = nameIn(error, 'required', 'missingProperty')
  const unknown = options.nameUnknownMembers
    ? nameIn(error, 'additionalProperties', 'additionalProperty')
    : undefined
  const member = missing ?? unknown
  const place = options.nameUnknownMembers ? error.instancePath : withoutMapName(error)
  return {
    pointer: member === undefined ? place : pointerTo(place, member),
    rule: broken(error.keyword, schema, missing) ?? noted(root) ?? options.rule,
    message: sentence(error, schema, options),
  }
}

/** Names in a map are chosen by the caller and may be content, so the pointer ends at the map. */
function withoutMapName({ schemaPath, instancePath }: ErrorObject): string {
  return schemaPath.includes('/additionalProperties/')
    ? instancePath.slice(0, instancePath.lastIndexOf('/'))
    : instancePath
}

function nameIn(error: ErrorObject, keyword: string, parameter: string): string | undefined {
  return error.keyword === keyword ? String(error.params[parameter]) : undefined
}

function broken(keyword: string, schema: NotedSchema, missing?: string): string | undefined {
  const absence = missing === undefined ? undefined : schema.properties?.[missing]?.[REQUIREMENT]
  if (typeof absence === 'object' && absence['required'] !== undefined) return absence['required']
  return noted(schema, keyword)
}

function noted(schema: NotedSchema, keyword = 'default'): string | undefined {
  const note = schema[REQUIREMENT]
  if (typeof note !== 'object') return note
  // Under a property, `required` refers to the property itself, not to its members.
  return (keyword === 'required' ? undefined : note[keyword]) ?? note['default']
}

function sentence(error: ErrorObject, schema: NotedSchema, options: ExplainOptions): string {
  const { keyword, params } = error
  const form = schema.description
  switch (keyword) {
    case 'required':
      return `Add the member ${quoted(params['missingProperty'])}; it is required here.`
    case 'additionalProperties':
      return options.nameUnknownMembers
        ? `Remove the member ${quoted(params['additionalProperty'])}; it is not defined here.`
        : 'Remove the unknown member; the API description lists the defined members.'
    case 'type':
      return `Give ${withArticle(params['type'])} here.`
    case 'enum':
      return `Use one of ${(params['allowedValues'] as unknown[]).map(quoted).join(', ')}.`
    case 'const':
      return `Use exactly ${quoted(params['allowedValue'])}.`
    case 'pattern':
    case 'format':
      return `Write ${form ?? `a value of the form ${String(params['pattern'] ?? params['format'])}`}.`
    case 'minimum':
      return `Use a number of at least ${String(params['limit'])}.`
    case 'maximum':
      return `Use a number of at most ${String(params['limit'])}.`
    case 'minLength':
      return params['limit'] === 1
        ? 'This must not be empty.'
        : `Use at least ${String(params['limit'])} characters.`
    case 'minItems':
      return `List at least ${counted(params['limit'], 'entry', 'entries')}.`
    case 'maxItems':
      if (params['limit'] === 0) return `Give ${form ?? 'an empty list'}.`
      return `List at most ${counted(params['limit'], 'entry', 'entries')}.`
    case 'uniqueItems':
      return `Entries ${String(params['j'])} and ${String(params['i'])} are equal; keep one of them.`
    case 'not':
      return `Use ${form ?? 'another value'}.`
    case 'contains':
      return `Add ${form ?? 'the missing entry'}.`
    default:
      return `This violates the rule ${quoted(keyword)} of the schema.`
  }
}

function quoted(value: unknown): string {
  return typeof value === 'string' ? `"${value}"` : JSON.stringify(value)
}

function withArticle(type: unknown): string {
  const types = Array.isArray(type) ? type : [type]
  return types
    .map((name) => (/^[aeio]/.test(String(name)) ? `an ${String(name)}` : `a ${String(name)}`))
    .join(' or ')
}

function counted(count: unknown, one: string, many: string): string {
  return `${String(count)} ${count === 1 ? one : many}`
}
