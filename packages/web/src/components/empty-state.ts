import { html, type Html, type Part } from '../template/html.ts'

export interface EmptyState {
  readonly title: string
  /** What to do next. */
  readonly text: Part
  readonly action?: Html
}

/** Instead of a table without rows. */
export function emptyState({ title, text, action }: EmptyState): Html {
  return html`<div class="empty">
    <p><strong>${title}</strong></p>
    <p class="quiet">${text}</p>
    ${action && html`<p>${action}</p>`}
  </div>`
}
