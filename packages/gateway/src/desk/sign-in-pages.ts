import { passkeyForm, type DeskPage } from '@agent-exchange/desk'
import type { SignOnFault } from '@agent-exchange/server/sign-on'
import { buttonLink, html, notice, type Html } from '@agent-exchange/web'
import { SIGN_IN_FAULT_TEXTS, SIGN_IN_TEXTS as T } from './desk-texts.ts'

export type SignInFault = SignOnFault | 'expired' | 'removed' | 'of_provider' | 'link_gone' | 'no_provider'

const STATUS: Readonly<Record<SignInFault, number>> = {
  provider_unavailable: 503,
  refused_by_provider: 403,
  answer_invalid: 403,
  no_role: 403,
  expired: 403,
  removed: 403,
  of_provider: 403,
  link_gone: 410,
  no_provider: 404,
}

export function faultPage(fault: SignInFault, issuer: string | undefined): DeskPage {
  const { title, text } = SIGN_IN_FAULT_TEXTS[fault]
  const host = issuer === undefined ? '' : new URL(issuer).host
  return {
    kind: 'page',
    status: STATUS[fault],
    title,
    main: html`${notice({ tone: 'bad', title: text(host) })}
      <p><a href="/sign-in">${T.backToSignIn}</a></p>`,
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
    title: T.signIn,
    ...((status ?? problem) !== undefined && { status: status ?? 403 }),
    main: html`<p class="lead">${T.lead}</p>
      ${hasEnded && notice({ tone: 'info', title: T.ended })}
      ${problem !== undefined && notice({ tone: 'bad', title: problem })}
      ${issuer !== undefined && providerPart(issuer, withNext('/sign-in/oidc'))}
      ${
        hasPasskeys &&
        html`<p>
          ${buttonLink(withNext('/sign-in/passkey'), T.passkey, issuer === undefined ? 'primary' : 'plain')}
        </p>`
      }
      ${
        issuer === undefined &&
        html`<h2>${T.invitedTitle}</h2>
          <p>${T.invited}</p>
          <p class="quiet">${T.lost}</p>`
      }`,
  }
}

/** A link and no form: the policy of forms would forbid the redirect to another site. */
function providerPart(issuer: string, address: string): Html {
  return html`<p>${buttonLink(address, T.companyAccount, 'primary')}</p>
    <p class="quiet">${T.leadsTo(new URL(issuer).host)}</p>`
}

/** No CSRF token: nobody is signed in, and the origin of the form is checked. */
export function linkPage(secret: string): DeskPage {
  return {
    kind: 'page',
    title: T.linkTitle,
    main: html`<form method="post" action="/enter">
      <input type="hidden" name="link" value="${secret}" />
      <p>${T.linkText}</p>
      <p class="actions"><button type="submit" class="primary">${T.signIn}</button></p>
    </form>`,
  }
}

/** The script of the desk asks the browser for the passkey and sends the form. */
export function passkeyPage(options: object, next: string): DeskPage {
  return {
    kind: 'page',
    title: T.passkey,
    main: html`<p>${T.passkeyText}</p>
      ${passkeyForm({
        id: 'sign-in-passkey',
        action: '/sign-in/passkey',
        ceremony: 'get',
        options,
        label: T.passkey,
        fields: { next },
      })}
      <p><a href="/sign-in">${T.backToSignIn}</a></p>`,
  }
}

/**
 * A redirect would still count as coming from the provider's site, so browsers would not send the strict cookie. The
 * refresh comes from this page.
 */
export function signedInPage(next: string, headers: NonNullable<DeskPage['headers']>): DeskPage {
  return {
    kind: 'page',
    title: T.signedIn,
    headers,
    main: html`<p><a href="${next}">${T.goOn}</a></p>`,
  }
}
