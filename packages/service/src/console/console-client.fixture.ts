/** For tests: a browser without script. It keeps cookies, follows no redirect by itself and sends forms as a page would. */
export function consoleClient(origin: string) {
  const cookies = new Map<string, string>()

  async function request(path: string, init: RequestInit & { headers?: Record<string, string> } = {}) {
    const sent = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(origin + path, {
      redirect: 'manual',
      ...init,
      headers: { ...(sent && { cookie: sent }), ...init.headers },
    })
    for (const header of response.headers.getSetCookie()) {
      const [pair = '', ...attributes] = header.split('; ')
      const [name = '', value = ''] = pair.split('=')
      if (attributes.includes('Max-Age=0')) cookies.delete(name)
      else cookies.set(name, value)
    }
    return {
      status: response.status,
      headers: response.headers,
      location: response.headers.get('location'),
      text: await response.text(),
    }
  }

  const get = (path: string, headers: Record<string, string> = {}) => request(path, { headers })

  /** With the CSRF token of the page at `from`, which the form is on. */
  async function submit(path: string, fields: Readonly<Record<string, string>>, from = '/') {
    const page = await get(from)
    return post(path, { csrf_token: csrfTokenOf(page.text), ...fields }, { referer: origin + from })
  }

  const post = (
    path: string,
    fields: Readonly<Record<string, string>>,
    headers: Record<string, string> = {},
  ) =>
    request(path, {
      method: 'POST',
      body: new URLSearchParams(fields).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin, ...headers },
    })

  return {
    cookies,
    get,
    post,
    submit,
    signIn: (token: string) => submit('/sign-in', { token }, '/sign-in'),
  }
}

export type ConsoleClient = ReturnType<typeof consoleClient>

export function csrfTokenOf(page: string): string {
  return /name="csrf_token" value="([^"]+)"/u.exec(page)?.[1] ?? ''
}
