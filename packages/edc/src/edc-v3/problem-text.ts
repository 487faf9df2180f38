import { LIMITS } from '../connector-limits.ts'
import { asText, isNode, nodeList, textOf } from './json-ld-reader.ts'

/** How often an error is found wrapped as text in another. */
const DEEPEST = 3

/**
 * What a failed answer says. EDC gives a list of `{ message }`, its data plane `{ errors }`, and the message may
 * itself be the other side's answer as text.
 */
export function problemText(bytes: Uint8Array): string | undefined {
  return unwrap(new TextDecoder().decode(bytes.subarray(0, LIMITS.problemBytes)), DEEPEST)
}

function unwrap(text: string, depth: number): string | undefined {
  if (depth === 0 || !/^\s*[[{]/u.test(text))
    return /^\s*</u.test(text) ? undefined : text.trim() || undefined
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return text
  }
  const parts = nodeList(parsed).flatMap((node) => {
    const code = textOf(node, 'code')
    const said = textOf(node, 'reason') ?? textOf(node, 'message') ?? firstText(node['errors'])
    if (said === undefined) return []
    const inner = unwrap(said, depth - 1) ?? said
    return [code === undefined ? inner : `${code} ${inner}`]
  })
  return parts.length > 0 ? parts.join('; ') : undefined
}

function firstText(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.map(asText).find((text) => text !== undefined)
  return isNode(value) ? undefined : asText(value)
}
