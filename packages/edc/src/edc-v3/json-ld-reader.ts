import { localName } from './vocabulary.ts'

/** JSON-LD as connectors send it: compact or expanded keys, one value or a list, wrapped or bare. */
export type Node = Readonly<Record<string, unknown>>

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** All values under a name, whichever way its key is written. */
export function valuesOf(node: Node, name: string): readonly unknown[] {
  return Object.entries(node)
    .filter(([key]) => key === name || localName(key) === name)
    .flatMap(([, value]) => listed(value))
}

export function nodesOf(node: Node, name: string): readonly Node[] {
  return valuesOf(node, name).filter(isNode)
}

/** The first value as text: a string or number, or what `@value` or `@id` wraps. */
export function textOf(node: Node, name: string): string | undefined {
  for (const value of valuesOf(node, name)) {
    const text = asText(value)
    if (text !== undefined) return text
  }
  return undefined
}

export function numberOf(node: Node, name: string): number | undefined {
  const text = textOf(node, name)
  const number = text === undefined ? Number.NaN : Number(text)
  return Number.isFinite(number) ? number : undefined
}

export function idOf(node: Node): string | undefined {
  return typeof node['@id'] === 'string' ? node['@id'] : undefined
}

export function asText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (!isNode(value)) return undefined
  return asText(value['@value'] ?? value['@id'])
}

/** A list of nodes, also where there is only one or they come as a graph. */
export function nodeList(value: unknown): readonly Node[] {
  return listed(value).filter(isNode)
}

function listed(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value.flatMap(listed)
  if (value === undefined || value === null) return []
  if (isNode(value)) {
    const inner = value['@list'] ?? value['@set'] ?? value['@graph']
    if (inner !== undefined) return listed(inner)
  }
  return [value]
}
