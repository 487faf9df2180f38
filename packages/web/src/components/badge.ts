import { html, type Html } from '../template/html.ts'
import { mark, type Tone } from './tone.ts'

/** A state in a word or two, on one line, with a shape beside the colour for whoever cannot tell colours apart. */
export function badge(tone: Tone, text: string): Html {
  return html`<span class="badge ${tone}">${mark()}<span>${text}</span></span>`
}
