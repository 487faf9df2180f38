import { html, type Html, type Part } from '../template/html.ts'
import { mark, type Tone } from './tone.ts'

export interface Notice {
  readonly tone: Tone
  readonly title: string
  readonly text?: Part
  /** A list below. */
  readonly items?: readonly Part[]
}

/** A message about what happened. Screen readers announce it; a failure interrupts them. */
export function notice({ tone, title, text, items = [] }: Notice): Html {
  return html`<div class="notice ${tone}" role="${tone === 'bad' ? 'alert' : 'status'}">
    ${mark()}
    <div>
      <p><strong>${title}</strong></p>
      ${text && html`<p>${text}</p>`}
      ${
        items.length > 0 &&
        html`<ul>
          ${items.map((item) => html`<li>${item}</li>`)}
        </ul>`
      }
    </div>
  </div>`
}
