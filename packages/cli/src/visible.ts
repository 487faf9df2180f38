// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f-\u009f]/g
/** The control characters that JSON leaves as they are; U+009B begins a command of the terminal by itself. */
const LEFT_BY_JSON = /[\u007f-\u009f]/g

/** Text that others wrote, such that a terminal obeys nothing of it. */
export function visible(text: string): string {
  return text.replace(CONTROL_CHARACTER, (character) => visibleJson(character).slice(1, -1))
}

/** The same for a whole value: still JSON, and still the same value. */
export function visibleJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2).replace(
    LEFT_BY_JSON,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
