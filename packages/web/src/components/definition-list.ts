import { html, type Html, type Part } from '../template/html.ts'

/** Facts about one thing: terms and what they are here. */
export function definitionList(facts: readonly (readonly [term: string, value: Part])[]): Html {
  return html`<dl class="facts">
    ${facts.map(
      ([term, value]) =>
        html`<dt>${term}</dt>
          <dd>${value}</dd>`,
    )}
  </dl>`
}
