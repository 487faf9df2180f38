/**
 * Characters that a reader does not see, or that begin markup or a terminal command. The format class (Cf) holds
 * bidirectional controls, zero-width characters and the tag characters that smuggle invisible text.
 */
const INVISIBLE_OR_MARKUP =
  /[<>&`]|[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]|[\ufe00-\ufe0f]|[\u{e0100}-\u{e01ef}]/gu

/**
 * JSON of a value of another party. Escapes of invisible characters show what a person would not see; the parsed value
 * is the same. A string never contains a line break, so no text in it can begin a line.
 */
export function escapedJson(value: unknown): string {
  return JSON.stringify(value, undefined, 1).replace(INVISIBLE_OR_MARKUP, (character) =>
    character === '\n' ? character : escapes(character),
  )
}

function escapes(character: string): string {
  return Array.from({ length: character.length }, (_, unit) => {
    const code = character.charCodeAt(unit).toString(16).padStart(4, '0')
    return `\\u${code}`
  }).join('')
}
