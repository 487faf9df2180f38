/** Separates code from comments, strings and regular expressions, so that checks do not mistake prose for code. */

interface Literal {
  /** Offset of the opening quote. */
  readonly start: number
  /** The text between the quotes, with escapes unchanged. */
  readonly text: string
}

export interface ScannedSource {
  /** The source with comments and literal contents blanked. Length, line breaks and quotes are kept. */
  readonly code: string
  readonly literals: readonly Literal[]
}

const BLANKED = /[^\n]/gu
const OPERAND_END = /[\w$)\]}'"`]$/u
const KEYWORD_BEFORE_REGEX =
  /(?:^|[^\w$.])(?:return|typeof|case|in|of|do|else|void|delete|throw|await|yield)$/u
const COMMENT = /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/uy
const REGEX = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/uy
const STRING = /'(?:\\[\s\S]|[^'\\\n])*'?|"(?:\\[\s\S]|[^"\\\n])*"?/uy
const TEMPLATE_TEXT = /(?:\\[\s\S]|\$(?!\{)|[^`\\$])*/uy

export function scanSource(source: string): ScannedSource {
  const literals: Literal[] = []
  // One entry per template literal around the current position, with its number of open braces.
  const templates: { start: number; braces: number }[] = []
  let code = ''
  let at = 0

  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at
    return pattern.exec(source)?.[0] ?? ''
  }
  const keep = (text: string) => {
    code += text
    at += text.length
  }
  const blank = (text: string) => {
    code += text.replace(BLANKED, (character) => ' '.repeat(character.length))
    at += text.length
  }
  const templateText = () => {
    blank(take(TEMPLATE_TEXT))
    const open = templates.at(-1)
    if (source.startsWith('${', at)) keep('${')
    else if (open) {
      literals.push({ start: open.start, text: source.slice(open.start + 1, at) })
      templates.pop()
      keep(source.slice(at, at + 1))
    }
  }

  while (at < source.length) {
    const character = source.charAt(at)
    const open = templates.at(-1)
    const comment = character === '/' ? take(COMMENT) : ''
    const regex = character === '/' && !comment && startsOperand(code) ? take(REGEX) : ''
    if (comment) blank(comment)
    else if (regex) blank(regex)
    else if (character === "'" || character === '"') {
      const text = take(STRING)
      const closed = text.length > 1 && text.endsWith(character)
      literals.push({ start: at, text: text.slice(1, closed ? -1 : undefined) })
      keep(character)
      blank(text.slice(1, closed ? -1 : undefined))
      if (closed) keep(character)
    } else if (character === '`') {
      templates.push({ start: at, braces: 0 })
      keep(character)
      templateText()
    } else if (character === '}' && open?.braces === 0) {
      keep(character)
      templateText()
    } else {
      if (open && character === '{') open.braces += 1
      if (open && character === '}') open.braces -= 1
      keep(character)
    }
  }
  return { code, literals: literals.toSorted((a, b) => a.start - b.start) }
}

/** Whether a slash starts a regular expression instead of a division (ECMA-262 section 12, InputElement goals). */
function startsOperand(before: string): boolean {
  const code = before.slice(-200).trimEnd()
  return !OPERAND_END.test(code) || KEYWORD_BEFORE_REGEX.test(code)
}

/** One-based line of an offset. */
export function lineOf(source: string, offset: number): number {
  return source.slice(0, offset).split('\n').length
}
