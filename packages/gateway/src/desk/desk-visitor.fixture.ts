import assert from 'node:assert/strict'
import { softwareAuthenticator } from '../approvals/software-authenticator.fixture.ts'

/** A browser at the desk: keeps cookies, sends forms with the token of the last page, follows no redirect. */
export function deskVisitor(origin: string) {
  const cookies = new Map<string, string>()
  let page = ''

  async function ask(path: string, init: RequestInit = {}) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { cookie, origin, ...(init.headers as Record<string, string>) }
    const response = await fetch(new URL(path, origin), { redirect: 'manual', ...init, headers })
    for (const header of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/u.exec(header) ?? []
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    const text = await response.text()
    if (response.headers.get('content-type')?.startsWith('text/html')) page = text
    return { status: response.status, text, headers: response.headers }
  }

  return {
    cookies,
    get: (path: string) => ask(path),
    post: (path: string, fields: Record<string, string> = {}) => {
      const [, token = ''] = /name="csrf_token" value="([^"]+)"/u.exec(page) ?? []
      return ask(path, { method: 'POST', body: new URLSearchParams({ csrf_token: token, ...fields }) })
    },
    /** With the link of an invitation. */
    async enter(link: string) {
      assert.match((await ask(`/enter?link=${link}`)).text, /Sign in/u)
      return ask('/enter', { method: 'POST', body: new URLSearchParams({ link }) })
    },
  }
}

/** The visitor with a passkey of its own. */
export async function withPasskey(visitor: ReturnType<typeof deskVisitor>, origin: string) {
  const key = softwareAuthenticator({ origin, rpId: 'localhost' })
  await visitor.get('/passkeys')
  const asked = await visitor.post('/passkeys/new', { name: 'Laptop' })
  const answer = JSON.stringify(key.create(passkeyOptionsIn(asked.text)))
  const registered = await visitor.post('/passkeys/register', { name: 'Laptop', answer })
  assert.equal(registered.headers.get('location'), '/passkeys?done=passkey_added', registered.text)
  return { ...visitor, key }
}

/** The options in a page, as the script of the desk reads them. */
export function passkeyOptionsIn(page: string): { challenge: string } {
  const [, text = ''] = /data-options="([^"]*)"/u.exec(page) ?? []
  return JSON.parse(text.replaceAll('&quot;', '"').replaceAll('&amp;', '&')) as { challenge: string }
}
