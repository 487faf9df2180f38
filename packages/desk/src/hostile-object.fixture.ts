import assert from 'node:assert/strict'
import { exampleObjects, validateObject, type ProtocolObject } from '@agent-exchange/protocol'
import { newObject } from '@agent-exchange/sdk/internal'

/** Would change the page, call out, or be seen at once if anything took it for markup. */
export const MARKUP = `"><img src=x onerror="document.title='owned'"><script>document.title='owned'</script></bdi></dd>&lt;b&gt;\u202e`

type ObjectTerms = Parameters<typeof newObject>[1]

/** A valid object of this type with markup in each free text, and how many texts it has. */
export function hostileObject<Type extends ProtocolObject['object_type']>(
  type: Type,
  terms: ObjectTerms,
): { readonly object: Extract<ProtocolObject, { object_type: Type }>; readonly count: number } {
  const fresh = newObject(type, terms)
  const own = Object.entries(fresh).filter(([name]) => OWN.has(name))
  const example = structuredClone(exampleObjects[type]) as object
  const full = { ...fresh, ...example, ...Object.fromEntries(own) } as ProtocolObject
  assert.ok(validateObject(full).valid, type)
  return withMarkup(full) as ReturnType<typeof hostileObject<Type>>
}

/** Puts the markup into each string that the schema lets be anything. Returns the object and how many it holds. */
function withMarkup(object: ProtocolObject): { readonly object: ProtocolObject; readonly count: number } {
  const copy = structuredClone(object)
  let count = 0
  const visit = (at: Record<string, unknown>) => {
    for (const [name, value] of Object.entries(at)) {
      if (typeof value === 'object' && value !== null) visit(value as Record<string, unknown>)
      if (typeof value !== 'string' || KEPT.has(name)) continue
      at[name] = MARKUP
      if (validateObject(copy).valid) count += 1
      else at[name] = value
    }
  }
  visit(copy)
  return { object: copy, count }
}
/** Members of a new object that say who, when and under which policy. */
const OWN: ReadonlySet<string> = new Set([
  'id',
  'thread_id',
  'created_by',
  'trace',
  'sender',
  'recipients',
  'policy_envelope',
  'policy_id',
  'allowed_recipients',
  'human_approval',
])
/** The exchange and the recipient compare these with the metadata. */
const KEPT: ReadonlySet<string> = new Set(['organization_id', 'agent_id', 'thread_id', 'policy_id', 'id'])
