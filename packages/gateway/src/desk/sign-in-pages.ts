import { passkeyForm, type DeskPage } from '@agent-exchange/desk'
import type { SignOnFault } from '@agent-exchange/server/sign-on'
import { buttonLink, html, notice, type Html } from '@agent-exchange/web'
import { DESK_TEXTS } from './desk-texts.ts'

export type SignInFault = SignOnFault | 'expired' | 'removed' | 'of_provider' | 'link_gone' | 'no_provider'

interface Explanation {
  readonly status: number
  readonly title: string
  readonly text: (host: string) => string
}

const FAULTS: Readonly<Record<SignInFault, Explanation>> = {
  provider_unavailable: {
    status: 503,
    title: 'The identity provider does not answer',
    text: (host) => `${host} could not be reached. Try again in a minute.`,
  },
  refused_by_provider: {
    status: 403,
    title: 'The identity provider refused',
    text: (host) => `${host} did not sign you in. Ask whoever runs it whether you may use the desk.`,
  },
  answer_invalid: {
    status: 403,
    title: 'The answer of the identity provider is not valid',
    text: () =>
      'It does not belong to the sign-in that this browser began, or its signature is wrong. Sign in again.',
  },
  no_role: {
    status: 403,
    title: 'You have no role here',
    text: () =>
      'Your company knows you, but none of your groups has a role at this desk. An administrator maps groups to roles with AEX_GATEWAY_OIDC_ROLES.',
  },
  expired: {
    status: 403,
    title: 'The sign-in took too long',
    text: () => 'Finish it within ten minutes, in the browser that began it. Sign in again.',
  },
  removed: {
    status: 403,
    title: 'You were removed from this desk',
    text: () => 'Ask an administrator of the gateway why.',
  },
  of_provider: {
    status: 403,
    title: 'Sign in with your company account',
    text: () => 'Your passkey decides about drafts. You sign in with the company account.',
  },
  link_gone: { status: 410, title: DESK_TEXTS.linkGone, text: () => DESK_TEXTS.linkGoneText },
  no_provider: {
    status: 404,
    title: 'There is no identity provider',
    text: () => 'This gateway signs people in by links and passkeys.',
  },
}

export function faultPage(fault: SignInFault, issuer: string | undefined): DeskPage {
  const { status, title, text } = FAULTS[fault]
  const host = issuer === undefined ? '' : new URL(issuer).host
  return {
    kind: 'page',
    status,
    title,
    main: html`${notice({ tone: 'bad', title: text(host) })}
      <p><a href="/sign-in">${DESK_TEXTS.backToSignIn}</a></p>`,
  }
}

export interface SignInState {
  readonly issuer: string | undefined
  readonly hasPasskeys: boolean
  readonly next: string
  readonly status?: number
  readonly hasEnded?: boolean
  readonly problem?: string
}

export function signInPage({ issuer, hasPasskeys, next, status, hasEnded, problem }: SignInState): DeskPage {
  const withNext = (path: string) => (next === '/' ? path : `${path}?next=${encodeURIComponent(next)}`)
  return {
    kind: 'page',
    title: DESK_TEXTS.signIn,
    ...((status ?? problem) !== undefined && { status: status ?? 403 }),
    main: html`<p class="lead">${DESK_TEXTS.signInLead}</p>
      ${hasEnded && notice({ tone: 'info', title: DESK_TEXTS.ended })}
      ${problem !== undefined && notice({ tone: 'bad', title: problem })}
      ${issuer !== undefined && providerPart(issuer, withNext('/sign-in/oidc'))}
      ${
        hasPasskeys &&
        html`<p>
          ${buttonLink(withNext('/sign-in/passkey'), DESK_TEXTS.passkey, issuer === undefined ? 'primary' : 'plain')}
        </p>`
      }
      ${
        issuer === undefined &&
        html`<h2>${DESK_TEXTS.invitedTitle}</h2>
          <p>${DESK_TEXTS.invited}</p>
          <p class="quiet">${DESK_TEXTS.lost}</p>`
      }`,
  }
}

/** A link and no form: the policy of forms would forbid the redirect to another site. */
function providerPart(issuer: string, address: string): Html {
  return html`<p>${buttonLink(address, DESK_TEXTS.companyAccount, 'primary')}</p>
    <p class="quiet">${DESK_TEXTS.leadsTo(new URL(issuer).host)}</p>`
}

/** No CSRF token: nobody is signed in, and the origin of the form is checked. */
export function linkPage(secret: string): DeskPage {
  return {
    kind: 'page',
    title: DESK_TEXTS.linkTitle,
    main: html`<form method="post" action="/enter">
      <input type="hidden" name="link" value="${secret}" />
      <p>${DESK_TEXTS.linkText}</p>
      <p class="actions"><button type="submit" class="primary">${DESK_TEXTS.signIn}</button></p>
    </form>`,
  }
}

/** The script of the desk asks the browser for the passkey and sends the form. */
export function passkeyPage(options: object, next: string): DeskPage {
  return {
    kind: 'page',
    title: DESK_TEXTS.passkey,
    main: html`<p>${DESK_TEXTS.passkeyText}</p>
      ${passkeyForm({
        id: 'sign-in-passkey',
        action: '/sign-in/passkey',
        ceremony: 'get',
        options,
        label: DESK_TEXTS.passkey,
        fields: { next },
      })}
      <p><a href="/sign-in">${DESK_TEXTS.backToSignIn}</a></p>`,
  }
}

/**
 * A redirect would still count as coming from the provider's site, so browsers would not send the strict cookie. The
 * refresh comes from this page.
 */
export function signedInPage(next: string, headers: NonNullable<DeskPage['headers']>): DeskPage {
  return {
    kind: 'page',
    title: DESK_TEXTS.signedIn,
    headers,
    main: html`<p><a href="${next}">${DESK_TEXTS.goOn}</a></p>`,
  }
}
