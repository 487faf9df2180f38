/** Members that the specification shows only in use (O-34): anything may stand in them. */

/** Longest text that a value other than text is shown as. */
const MAXIMUM_VALUE_TEXT = 200
/** Members of an item that are compared. */
const MAXIMUM_MEMBERS = 12

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function textMember(value: unknown, name: string): string | undefined {
  const member = isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined
  return typeof member === 'string' ? member : undefined
}

/** A value as one text. */
export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value).slice(0, MAXIMUM_VALUE_TEXT)
}

/** The members of an item as texts: those in use first, in their order. */
export function memberTexts(
  item: unknown,
  inUse: readonly string[],
): readonly { readonly name: string; readonly text: string }[] {
  if (!isRecord(item)) return [{ name: inUse[0] ?? '', text: valueText(item) }]
  const names = Object.keys(item)
  const ordered = [
    ...inUse.filter((name) => names.includes(name)),
    ...names.filter((name) => !inUse.includes(name)),
  ]
  return ordered.slice(0, MAXIMUM_MEMBERS).map((name) => ({ name, text: valueText(item[name]) }))
}
