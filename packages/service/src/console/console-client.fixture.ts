import { request } from 'undici'

/** For tests: a browser without script. It keeps cookies, follows no redirect by itself and sends forms as a page would. */
export function consoleClient(origin: string) {
  const cookies = new Map<string, string>()

  async function send(path: string, method: 'GET' | 'POST', headers: Record<string, string>, body?: string) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    // Not fetch, which sets Sec-Fetch-Mode itself.
    const response = await request(origin + path, {
      method,
      headers: { 'sec-fetch-mode': 'navigate', ...(cookie && { cookie }), ...headers },
      ...(body !== undefined && { body }),
    })
    const received = new Headers()
    for (const [name, value] of Object.entries(response.headers))
      for (const each of [value ?? []].flat()) received.append(name, each)
    for (const header of received.getSetCookie()) {
      const [pair = '', ...attributes] = header.split('; ')
      const [name = '', value = ''] = pair.split('=')
      if (attributes.includes('Max-Age=0')) cookies.delete(name)
      else cookies.set(name, value)
    }
    return {
      status: response.statusCode,
      headers: received,
      location: received.get('location'),
      text: await response.body.text(),
    }
  }

  const get = (path: string, headers: Record<string, string> = {}) => send(path, 'GET', headers)

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
    send(
      path,
      'POST',
      { 'content-type': 'application/x-www-form-urlencoded', origin, ...headers },
      new URLSearchParams(fields).toString(),
    )

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
