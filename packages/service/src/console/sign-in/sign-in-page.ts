import { form, html, type Html } from '@agent-exchange/web'

export interface SignInState {
  readonly csrfToken: string
  /** Where to go afterwards. */
  readonly next: string
}

export function signInContent({ csrfToken, next }: SignInState): { title: string; main: Html } {
  return {
    title: 'Sign in',
    main: html`<p class="lead">The operator console of this exchange.</p>
      ${form({
        id: 'sign-in',
        action: '/sign-in',
        csrfToken,
        fields: [
          {
            kind: 'password',
            name: 'token',
            label: 'Operator token',
            isRequired: true,
            maxLength: 256,
            autocomplete: 'current-password',
            hint: 'It begins with aexop_. The first one is in the file operator-token of the data folder.',
          },
          { kind: 'hidden', name: 'next', value: next },
        ],
        submit: { label: 'Sign in' },
      })}
      <p class="quiet">
        No token? An administrator creates one with <code>aex operator create NAME --role viewer</code>.
      </p>`,
  }
}
