import { attributes, html, type Html } from '../template/html.ts'

/** `:has(:checked)` in the style sheet makes it work without script; the script remembers the choice. */
export function themeSwitch(): Html {
  const choices = ['auto', 'light', 'dark'].map(
    (name) =>
      html`<input
          ${attributes({ class: 'unseen', type: 'radio', name: 'theme', id: `theme-${name}`, value: name, checked: name === 'auto', autocomplete: 'off' })}
        />
        <label for="theme-${name}">${name.charAt(0).toUpperCase() + name.slice(1)}</label>`,
  )
  return html`<fieldset class="theme">
    <legend>Theme</legend>
    ${choices}
  </fieldset>`
}
