/** What can be said about a schema in words. No document tree here, so that it can be tested anywhere. */

const COMPONENT = '#/components/'

/** The name behind a reference, also where rules stand around it, or undefined. */
export function nameOf(schema) {
  const reference = schema.$ref ?? (schema.type === undefined ? schema.allOf?.[0]?.$ref : undefined)
  return reference?.split('/').at(-1)
}

/** The thing behind a reference, with the rules beside the reference (2020-12 allows them) applied to it. */
export function resolve(description, schema) {
  if (schema.type === undefined && schema.allOf?.[0]?.$ref) return resolve(description, narrowed(schema))
  if (typeof schema.$ref !== 'string' || !schema.$ref.startsWith(COMPONENT)) return schema
  const [section, name] = schema.$ref.slice(COMPONENT.length).split('/')
  const { $ref: _reference, properties, ...beside } = schema
  const target = resolve(description, description.components[section][name])
  const overlaid = Object.entries(properties ?? {}).map(([member, inner]) => [
    member,
    { ...target.properties?.[member], ...inner },
  ])
  const merged = { ...target, ...beside }
  return properties
    ? { ...merged, properties: { ...target.properties, ...Object.fromEntries(overlaid) } }
    : merged
}

/** `allOf` of a reference and of rules about its members: the reference with those rules beside it. */
function narrowed({ allOf: [reference, ...rules], ...schema }) {
  const properties = Object.assign({}, ...rules.map((rule) => rule.properties))
  return { ...schema, ...reference, properties }
}

/** A short name for what a value is. */
export function typeOf(description, schema) {
  const { type, format, anyOf, items, enum: values, const: constant } = resolve(description, schema)
  if (constant !== undefined) return 'constant'
  if (values) return 'enum'
  if (anyOf) return anyOf.map((choice) => nameOf(choice) ?? typeOf(description, choice)).join(' or ')
  if (type === 'array')
    return `array of ${items ? (nameOf(items) ?? typeOf(description, items)) : 'anything'}`
  if (type === undefined) return 'any'
  return format ? `${type}, ${format}` : type
}

/** A longer one tells a reader less than the description beside it. */
const LONGEST_SHOWN_PATTERN = 80

const LIMITS = [
  ['minLength', 'at least', 'characters'],
  ['maxLength', 'at most', 'characters'],
  ['minItems', 'at least', 'entries'],
  ['maxItems', 'at most', 'entries'],
  ['minimum', 'at least', ''],
  ['maximum', 'at most', ''],
  ['maxProperties', 'at most', 'members'],
  ['default', 'default', ''],
]

/** Everything else that a value must fulfil, as short texts. `code` marks what is to be read letter by letter. */
export function rulesOf(schema) {
  const rules = LIMITS.filter(([keyword]) => schema[keyword] !== undefined).map(([keyword, words, unit]) => {
    const isMerelyNotEmpty = keyword === 'minLength' && schema.minLength === 1
    return { text: isMerelyNotEmpty ? 'not empty' : `${words} ${schema[keyword]} ${unit}`.trim() }
  })
  if (schema.const !== undefined) rules.push({ text: 'always', code: [JSON.stringify(schema.const)] })
  if (schema.enum) rules.push({ text: 'one of', code: schema.enum.map(String) })
  if (schema['x-values-in-use'])
    rules.push({ text: 'in use, not a closed list:', code: schema['x-values-in-use'] })
  const isInWords = schema.description && schema.pattern?.length > LONGEST_SHOWN_PATTERN
  if (schema.pattern && !isInWords) rules.push({ text: 'pattern', code: [schema.pattern] })
  if (schema.uniqueItems) rules.push({ text: 'no duplicates' })
  if (schema.additionalProperties === false) rules.push({ text: 'no other members' })
  for (const part of schema.allOf ?? []) if (part.description) rules.push({ text: `has ${part.description}` })
  return rules
}

/** The members of an object, or what an array or a choice is made of, as rows with a name. */
export function partsOf(description, schema) {
  const {
    properties = {},
    required = [],
    additionalProperties,
    items,
    anyOf,
    contentSchema,
  } = resolve(description, schema)
  const rows = Object.entries(properties).map(([name, inner]) => ({
    name,
    schema: inner,
    required: required.includes(name),
  }))
  if (typeof additionalProperties === 'object')
    rows.push({ name: 'any name', schema: additionalProperties, required: false })
  if (anyOf && anyOf.some((choice) => isNested(description, choice)))
    rows.push(
      ...anyOf.map((choice, index) => ({ name: `choice ${index + 1}`, schema: choice, required: false })),
    )
  if (contentSchema) rows.push({ name: 'decoded', schema: contentSchema, required: false })
  if (items && isNested(description, items)) rows.push({ name: 'each entry', schema: items, required: false })
  return rows
}

/** Whether there is something inside to unfold. */
export function isNested(description, schema) {
  return partsOf(description, schema).length > 0
}
