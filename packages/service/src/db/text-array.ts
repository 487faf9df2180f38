/** text[] as text on the wire. */
export function writeTextArray(items: readonly (string | null)[]): string {
  return `{${items.map((item) => (item === null ? 'null' : quoted(item))).join(',')}}`
}

function quoted(text: string): string {
  return `"${text.includes('"') || text.includes('\\') ? text.replace(/["\\]/g, '\\$&') : text}"`
}

/** An item in quotes, in which a backslash stands before what would end it, or a bare word. */
const ITEM = /"((?:[^"\\]|\\.)*)"|[^{},]+/gs

/** Bare words alone, as most lists are: in quotes are those with a comma, a brace, a space or nothing in them. */
function isPlain(text: string): boolean {
  return !text.includes('"') && !text.includes('NULL')
}

/** One dimension, as all of ours have. */
export function readTextArray(text: string): (string | null)[] {
  if (isPlain(text)) return text === '{}' ? [] : text.slice(1, -1).split(',')
  return Array.from(text.matchAll(ITEM), ([item, inner]) => {
    if (inner !== undefined) return inner.replace(/\\(.)/gs, '$1')
    return item === 'NULL' ? null : item
  })
}
