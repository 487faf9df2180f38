/** What a terminal shows in one line. */
const WIDTH = 80

/** Longer words, such as key ids, are shortened in the middle; `--json` prints them in full. */
const LONGEST_WORD = 48

/** Lines of at most 80 columns; those after the first are indented as deep as `hanging` says. */
export function wrapText(
  text: string,
  { indent, hanging }: { readonly indent: string; readonly hanging: string },
): string[] {
  return wrapWords(text.split(' ').map(shortened), { indent, hanging })
}

/** The same with every word in full: a longer one has a line of its own. */
export function wrapWords(
  words: readonly string[],
  { indent, hanging }: { readonly indent: string; readonly hanging: string },
): string[] {
  const lines: string[] = []
  let line = indent
  let isEmpty = true
  for (const word of words) {
    if (!isEmpty && line.length + 1 + word.length > WIDTH) {
      lines.push(line)
      line = hanging
      isEmpty = true
    }
    line += isEmpty ? word : ` ${word}`
    isEmpty = false
  }
  return [...lines, line]
}

function shortened(word: string): string {
  return word.length <= LONGEST_WORD ? word : `${word.slice(0, 24)}…${word.slice(-12)}`
}
