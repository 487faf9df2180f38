import { escape } from '@agent-exchange/web/escape'
import { visibleText } from './visible-text.ts'

/** HTML that was escaped. Only the template below makes one, so unescaped text cannot get into a page. */
export class SafeHtml {
  readonly #text: string

  private constructor(text: string) {
    this.#text = text
  }

  static of(strings: TemplateStringsArray, values: readonly HtmlValue[]): SafeHtml {
    return new SafeHtml(
      strings.reduce((page, part, at) => `${page}${part}${at < values.length ? htmlOf(values[at]) : ''}`, ''),
    )
  }

  toString(): string {
    return this.#text
  }
}

type HtmlValue = string | number | undefined | SafeHtml | readonly SafeHtml[]

/** A template whose values are escaped, for text and for attributes in double quotes. */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): SafeHtml {
  return SafeHtml.of(strings, values)
}

function htmlOf(value: HtmlValue): string {
  if (value === undefined) return ''
  if (value instanceof SafeHtml) return value.toString()
  if (typeof value === 'object') return value.map(String).join('')
  return escape(visibleText(String(value)))
}
