import { buttonLink, form, html, type Html } from '@agent-exchange/web'
import { addressOf } from '../paging.ts'

export interface SignInState {
  readonly csrfToken: string
  /** Where to go afterwards. */
  readonly next: string
  /** Of the identity provider, if there is one. */
  readonly issuer: string | undefined
}

export function signInContent({ csrfToken, next, issuer }: SignInState): { title: string; main: Html } {
  return {
    title: 'Sign in',
    main: html`<p class="lead">The operator console of this exchange.</p>
      ${issuer !== undefined && providerPart(issuer, next)}
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
        submit: { label: 'Sign in', tone: issuer === undefined ? 'primary' : 'plain' },
      })}
      <p class="quiet">
        No token? An administrator creates one with <code>aex operator create NAME --role viewer</code>.
      </p>`,
  }
}

/** A link and no form: the policy of forms would forbid the redirect to another site. */
function providerPart(issuer: string, next: string): Html {
  const address = addressOf('/sign-in/oidc', next === '/' ? {} : { next })
  return html`<p>${buttonLink(address, 'Sign in with your company account', 'primary')}</p>
    <p class="quiet">It leads to ${new URL(issuer).host}.</p>
    <h2>With a token</h2>`
}
