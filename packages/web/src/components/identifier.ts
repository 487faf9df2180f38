import { attributes, html, type Html } from '../template/html.ts'

/** Control, format and separator characters: invisible, or they reorder the text around them. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|(?! )\p{Zs}/gu

/** A longer id is shortened in a list. */
const WHOLE_CHARACTERS = 22
const HEAD_CHARACTERS = 12
const TAIL_CHARACTERS = 6

/** Text whose invisible characters are spelled out, so that two different values never look alike because of them. */
export function visible(text: string): string {
  return text.replace(INVISIBLE, (found) => `\\u{${(found.codePointAt(0) ?? 0).toString(16)}}`)
}

/** An id, to be read letter by letter. The copy button is hidden until the script makes it work. */
export function identifier(id: string, href?: string): Html {
  return withCopyButton(id, linked(html`<bdi class="id">${visible(id)}</bdi>`, { href }))
}

/**
 * An id in a list: the style sheet shows its ends, and the title all of it. The middle stays in the text, so that searching,
 * selecting and screen readers find the whole id.
 */
export function shortIdentifier(id: string, href?: string): Html {
  return withCopyButton(id, shortId(id, href))
}

/** The same without the copy button: for pages with hundreds of ids. */
export function shortId(id: string, href?: string): Html {
  const shown = visible(id)
  if (shown.length <= WHOLE_CHARACTERS) return linked(html`<bdi class="id">${shown}</bdi>`, { href })
  const [head, middle, tail] = [
    shown.slice(0, HEAD_CHARACTERS),
    shown.slice(HEAD_CHARACTERS, -TAIL_CHARACTERS),
    shown.slice(-TAIL_CHARACTERS),
  ]
  return linked(html`<bdi class="id">${head}<span class="cut">${middle}</span>${tail}</bdi>`, {
    href,
    title: shown,
  })
}

function linked(
  shown: Html,
  { href, title }: { readonly href: string | undefined; readonly title?: string },
): Html {
  if (href !== undefined) return html`<a ${attributes({ href, title })}>${shown}</a>`
  return title === undefined ? shown : html`<span ${attributes({ title })}>${shown}</span>`
}

function withCopyButton(id: string, shown: Html): Html {
  return html`<span class="copy"
    >${shown}<button type="button" data-copy="${id}" aria-label="Copy ${visible(id)}" hidden>
      Copy
    </button></span
  >`
}
