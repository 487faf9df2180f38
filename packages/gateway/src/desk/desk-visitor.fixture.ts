import assert from 'node:assert/strict'

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
