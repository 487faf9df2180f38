import { attributes, html, type Html } from '../template/html.ts'

export type ButtonTone = 'plain' | 'primary' | 'danger'

export interface Button {
  readonly label: string
  readonly tone?: ButtonTone
  /** Sent with the form where this button submits it. */
  readonly name?: string
  readonly value?: string
  /** Submits a form that is not complete yet. */
  readonly skipsValidation?: boolean
}

/** Submits the form around it. */
export function button({ label, tone = 'plain', name, value, skipsValidation }: Button): Html {
  return html`<button
    ${attributes({
      type: 'submit',
      class: tone === 'plain' ? undefined : tone,
      name,
      value,
      formnovalidate: skipsValidation,
    })}
  >
    ${label}
  </button>`
}

/** A link that looks like a button: it leads somewhere and changes nothing. */
export function buttonLink(href: string, label: string, tone: 'plain' | 'primary' = 'plain'): Html {
  return html`<a href="${href}" class="button ${tone}">${label}</a>`
}
