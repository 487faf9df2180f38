import { html, type Html } from '../template/html.ts'

/** Each has a colour and a shape of its own: disc, triangle, cross, diamond, ring. */
export type Tone = 'good' | 'warn' | 'bad' | 'info' | 'neutral'

/** The shape. It must be a child of an element whose class is the tone. */
export function mark(): Html {
  return html`<span class="mark" aria-hidden="true"></span>`
}
