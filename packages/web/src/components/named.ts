import { attributes, html, type Html } from '../template/html.ts'
import { visible } from './identifier.ts'

export interface Named {
  readonly name: string
  /** In the title: two things may have the same name. */
  readonly id: string
  readonly href?: string
  /** What belongs to it, such as an id. */
  readonly below?: Html
}

/** A thing by its name, as others chose it, so that a list says who before it says which id. */
export function named({ name, id, href, below }: Named): Html {
  const title = visible(id)
  const text = html`<bdi>${visible(name)}</bdi>`
  const shown =
    href === undefined
      ? html`<span ${attributes({ title })}>${text}</span>`
      : html`<a ${attributes({ href, title })}>${text}</a>`
  return below === undefined ? shown : html`${shown}<span class="below">${below}</span>`
}
