import { isNode, type Node } from './json-ld-reader.ts'
import { fullName, localName, ODRL } from './vocabulary.ts'

/** ODRL's members, as the context of the dataspace protocol 2025-1 abbreviates them. */
const MEMBERS: ReadonlySet<string> = new Set([
  'permission',
  'prohibition',
  'obligation',
  'duty',
  'remedy',
  'consequence',
  'profile',
  'constraint',
  'leftOperand',
  'operator',
  'rightOperand',
  'and',
  'or',
  'xone',
  'andSequence',
  'action',
  'target',
  'assigner',
  'assignee',
])
/** Those whose values are names too. */
const NAMES: ReadonlySet<string> = new Set(['action', 'leftOperand', 'operator'])

/**
 * An offer whose meaning hangs on a context that would have to be fetched (dataspace protocol 2025-1), with every
 * name written in full instead: the management API v3 does not resolve such a context inside a request. Any other
 * offer is left as it is, letter for letter.
 */
export function spelledOut(offer: Node, context: unknown): Node {
  const remote = [context].flat().some((part) => typeof part === 'string')
  if (!remote) return { ...(context !== undefined && { '@context': context }), ...offer }
  return { ...(inFull(offer) as Node), '@type': `${ODRL}Offer` }
}

function inFull(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inFull)
  if (!isNode(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== '@context')
      .map(([key, inner]) => {
        const name = localName(key)
        if (!MEMBERS.has(name)) return [key, inFull(inner)]
        return [`${ODRL}${name}`, NAMES.has(name) ? named(inner) : inFull(inner)]
      }),
  )
}

function named(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(named)
  if (typeof value !== 'string') return inFull(value)
  return { '@id': fullName(value, ODRL) }
}
