import { attributes, button, CSRF_FIELD, html, notice, type Html } from '@agent-exchange/web'
import { PASSKEY_TEXTS } from './texts/draft-texts.ts'

export interface PasskeyForm {
  readonly id: string
  readonly action: string
  /** Undefined before the sign-in: the host binds the form otherwise. */
  readonly csrfToken?: string
  /** `get`: use a passkey. `create`: make one. */
  readonly ceremony: 'get' | 'create'
  /** Options as JSON, as WebAuthn's `parseRequestOptionsFromJSON` or `parseCreationOptionsFromJSON` read them. */
  readonly options: object
  readonly label: string
  readonly fields?: Readonly<Record<string, string>>
}

/** A form that a passkey completes. The script of the desk puts the browser's answer into the field `answer`. */
export function passkeyForm({
  id,
  action,
  csrfToken,
  ceremony,
  options,
  label,
  fields = {},
}: PasskeyForm): Html {
  const data = { 'data-passkey': ceremony, 'data-options': JSON.stringify(options) }
  return html`<form ${attributes({ id, action, method: 'post', ...data })}>
    ${csrfToken !== undefined && html`<input type="hidden" name="${CSRF_FIELD}" value="${csrfToken}" />`}
    ${Object.entries(fields).map(
      ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
    )}
    <input type="hidden" name="answer" value="" />
    <p
      role="alert"
      hidden
      data-failed="${PASSKEY_TEXTS.failed}"
      data-missing="${PASSKEY_TEXTS.noPasskeys}"
    ></p>
    <p class="actions">${button({ label, tone: 'primary' })}</p>
    <noscript
      >${notice({ tone: 'warn', title: PASSKEY_TEXTS.noScript, text: PASSKEY_TEXTS.noScriptText })}</noscript
    >
  </form>`
}
