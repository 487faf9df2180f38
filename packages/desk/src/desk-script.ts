import { createHash } from 'node:crypto'
import type { WebAsset } from '@agent-exchange/web'

/** Posts a form while the person types, and shows what it would lead to. Without it, the button "Check" does the same. */
const SCRIPT = `const PAUSE_MS = 700

for (const form of document.querySelectorAll('form[data-compose]')) {
  const region = document.getElementById(form.dataset.compose)
  let timer
  let request
  const show = async () => {
    request?.abort()
    request = new AbortController()
    const body = new URLSearchParams(new FormData(form))
    body.set('step', 'live')
    try {
      const response = await fetch(form.action, { method: 'POST', body, signal: request.signal })
      const page = new DOMParser().parseFromString(await response.text(), 'text/html')
      const fresh = page.getElementById(region.id)
      if (fresh) region.replaceChildren(...fresh.childNodes)
    } catch {
      // A newer request replaced this one, or the desk does not answer: the button still works.
    }
  }
  const schedule = () => {
    clearTimeout(timer)
    timer = setTimeout(show, PAUSE_MS)
  }
  form.addEventListener('input', schedule)
  form.addEventListener('submit', () => {
    clearTimeout(timer)
    request?.abort()
  })
}
`

/** The script of the desk. In the code, so that a packed CLI has it. */
export function deskScript(): WebAsset {
  const hash = createHash('sha256').update(SCRIPT).digest('hex').slice(0, 16)
  return {
    name: `desk-${hash}.js`,
    mediaType: 'text/javascript; charset=utf-8',
    cacheControl: 'public, max-age=31536000, immutable',
    body: SCRIPT,
  }
}
