import { html, type Html } from '../template/html.ts'

/** Control, format and separator characters: invisible, or they reorder the text around them. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|(?! )\p{Zs}/gu

/** Text whose invisible characters are spelled out, so that two different values never look alike because of them. */
export function visible(text: string): string {
  return text.replace(INVISIBLE, (found) => `\\u{${(found.codePointAt(0) ?? 0).toString(16)}}`)
}

/** An id, to be read letter by letter. The copy button is hidden until the script makes it work. */
export function identifier(id: string, href?: string): Html {
  const shown = html`<bdi class="id">${visible(id)}</bdi>`
  return html`<span class="copy"
    >${href === undefined ? shown : html`<a href="${href}">${shown}</a>`}<button
      type="button"
      data-copy="${id}"
      aria-label="Copy ${visible(id)}"
      hidden
    >
      Copy
    </button></span
  >`
}
