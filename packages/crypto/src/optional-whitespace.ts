/**
 * Removes optional whitespace of HTTP fields (RFC 9110 section 5.6.3) at both ends. The regular expression `[ \t]+$`
 * would take quadratic time for long whitespace.
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
