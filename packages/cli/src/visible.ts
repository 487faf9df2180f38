// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f-\u009f]/g

/** Text that others wrote, such that a terminal obeys nothing of it. */
export function visible(text: string): string {
  return text.replace(CONTROL_CHARACTER, (character) => JSON.stringify(character).slice(1, -1))
}
