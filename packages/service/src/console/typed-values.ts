import { CSRF_FIELD } from '@agent-exchange/web'

/** Members that a private JWK has and a public one has not (RFC 7518, section 6). */
const PRIVATE_MEMBER = /"(?:d|p|q|dp|dq|qi|oth|k)"\s*:/u
const PRIVATE_PEM = /PRIVATE KEY/u
/** Operator tokens and invitations. */
const OWN_SECRET = /aex(?:op|inv)_[\w-]{16}/u
const URL_WITH_PASSWORD = /^[a-z][a-z\d+.-]*:\/\/[^/?#\s]*@/iu

/** What somebody typed into a form, to be shown again after a refusal. A value that has a secret is left out. */
export function typedValues(body: string): ReadonlyMap<string, string> {
  const all = [...new URLSearchParams(body)]
  return new Map(all.filter(([name, value]) => name !== CSRF_FIELD && !hasSecret(value)))
}

function hasSecret(value: string): boolean {
  return [PRIVATE_PEM, OWN_SECRET, URL_WITH_PASSWORD, PRIVATE_MEMBER].some((sign) => sign.test(plain(value)))
}

/** JSON may write any letter as an escape. */
function plain(value: string): string {
  return value.replaceAll(/\\u([\da-f]{4})/giu, (_all, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )
}
