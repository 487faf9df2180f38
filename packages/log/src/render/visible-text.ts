/** Control, format and separator characters could rewrite what a reader sees: they are shown as their code points. */
export function visibleText(text: string): string {
  return text.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
    return `[U+${code}]`
  })
}
