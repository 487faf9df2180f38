import { html, type Html, type Part } from '../template/html.ts'
import { mark, type Tone } from './tone.ts'

export interface Notice {
  readonly tone: Tone
  readonly title: string
  readonly text?: Part
}

/** A message about what happened. Screen readers announce it; a failure interrupts them. */
export function notice({ tone, title, text }: Notice): Html {
  return html`<div class="notice ${tone}" role="${tone === 'bad' ? 'alert' : 'status'}">
    ${mark()}
    <div>
      <p><strong>${title}</strong></p>
      ${text && html`<p>${text}</p>`}
    </div>
  </div>`
}
