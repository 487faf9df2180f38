/**
 * Optional whitespace of HTTP fields (RFC 9110 section 5.6.3) at both ends removed. A regular expression with `[ \t]+$`
 * would try every start of a long run of blanks, and take quadratic time for it.
 */
export function trimBlanks(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function isBlank(char: number): boolean {
  return char === 0x20 || char === 0x09
}
