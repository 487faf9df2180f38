import type { AnySchemaObject, FuncKeywordDefinition, SchemaValidateFunction } from 'ajv'

/**
 * `uniqueItems` in linear time. Items of our lists are strings or objects of strings; the schema of the items refuses
 * deeper nesting.
 *
 * @public The verifier page calls it from precompiled validators.
 */
export const hasUniqueItems: SchemaValidateFunction = (
  isRequired: boolean,
  items: readonly unknown[],
  parentSchema?: AnySchemaObject,
): boolean => {
  const seen = new Map<string, number>()
  for (const [i, item] of isRequired ? items.entries() : []) {
    const name = nameOf(item)
    if (name === undefined) continue
    const j = seen.get(name)
    if (j !== undefined) {
      hasUniqueItems.errors = [
        { keyword: 'uniqueItems', params: { i, j }, ...(parentSchema && { parentSchema }) },
      ]
      return false
    }
    seen.set(name, i)
  }
  return true
}

/** A text that is equal only for equal items, independent of member order. */
function nameOf(item: unknown): string | undefined {
  if (typeof item !== 'object' || item === null) return JSON.stringify(item)
  const members = Object.entries(item)
  if (members.some(([, value]) => typeof value === 'object' && value !== null)) return undefined
  return `${Array.isArray(item) ? 'list' : 'object'} ${JSON.stringify(members.toSorted(byMemberName))}`
}

function byMemberName([a]: [string, unknown], [b]: [string, unknown]): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

export const uniqueItems: FuncKeywordDefinition = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  errors: true,
  validate: hasUniqueItems,
}
