import type { Desk } from './desk-server.ts'

/** A signed-in browser without a screen: it keeps its cookie and sends the token of the last page. */
export interface DeskClient {
  get(path: string): Promise<{ readonly status: number; readonly text: string; readonly type: string }>
  post(
    path: string,
    fields?: Record<string, string>,
  ): Promise<{ readonly status: number; readonly text: string; readonly location: string }>
}

export async function signInAt(desk: Desk): Promise<DeskClient> {
  const link = desk.newLink()
  const { origin } = new URL(link)
  const entered = await fetch(link, { redirect: 'manual' })
  const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? ''
  let csrf_token = ''
  const remember = (text: string) => {
    csrf_token = /name="csrf_token" value="([^"]+)"/u.exec(text)?.[1] ?? csrf_token
    return text
  }
  return {
    async get(path) {
      const answer = await fetch(`${origin}${path}`, { headers: { cookie } })
      const type = answer.headers.get('content-type') ?? ''
      return { status: answer.status, text: remember(await answer.text()), type }
    },
    async post(path, fields = {}) {
      const answer = await fetch(`${origin}${path}`, {
        method: 'POST',
        headers: { cookie, origin },
        redirect: 'manual',
        body: new URLSearchParams({ csrf_token, ...fields }),
      })
      const location = answer.headers.get('location') ?? ''
      return { status: answer.status, text: remember(await answer.text()), location }
    },
  }
}
