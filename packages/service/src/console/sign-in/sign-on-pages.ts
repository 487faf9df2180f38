import { html, notice, type Html } from '@agent-exchange/web'
import type { SignOnFault } from '@agent-exchange/server/sign-on'

export type ShownFault = SignOnFault | 'expired'

export const SIGN_ON_STATUS: Readonly<Record<ShownFault, number>> = {
  provider_unavailable: 503,
  refused_by_provider: 403,
  answer_invalid: 403,
  no_role: 403,
  expired: 403,
}

interface Explanation {
  readonly title: string
  readonly text: (host: string) => string
}

const EXPLANATIONS: Readonly<Record<ShownFault, Explanation>> = {
  provider_unavailable: {
    title: 'The identity provider does not answer',
    text: (host) => `${host} could not be reached. Try again in a minute, or sign in with an operator token.`,
  },
  refused_by_provider: {
    title: 'The identity provider refused',
    text: (host) => `${host} did not sign you in. Ask whoever runs it whether you may use this console.`,
  },
  answer_invalid: {
    title: 'The answer of the identity provider is not valid',
    text: () =>
      'It does not belong to the sign-in that this browser began, or it is not signed as expected. Sign in again.',
  },
  no_role: {
    title: 'You have no role here',
    text: () =>
      'The identity provider knows you, but none of your groups has a role in this exchange. ' +
      'An administrator maps groups to roles with AEX_OPERATOR_OIDC_ROLES.',
  },
  expired: {
    title: 'The sign-in took too long',
    text: () => 'It must be finished within ten minutes, in the browser that began it. Sign in again.',
  },
}

export function signOnFaultContent(fault: ShownFault, issuer: string): { title: string; main: Html } {
  const { title, text } = EXPLANATIONS[fault]
  return {
    title,
    main: html`${notice({ tone: 'bad', title: text(new URL(issuer).host) })}
      <p><a href="/sign-in">Back to sign-in</a></p>`,
  }
}

/** Shown for a moment, or for good where a browser ignores the refresh. */
export function signedOnContent(next: string): { title: string; main: Html } {
  return { title: 'Signed in', main: html`<p><a href="${next}">Continue to the console</a></p>` }
}
