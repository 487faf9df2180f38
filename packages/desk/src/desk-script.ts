import { createHash } from 'node:crypto'
import type { WebAsset } from '@agent-exchange/web'

/**
 * Posts a form while the person types, and shows what it would lead to; without it, the button "Check" does the same.
 * Asks the browser for a passkey, which nothing but a script can.
 */
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

for (const form of document.querySelectorAll('form[data-passkey]')) {
  const alert = form.querySelector('[role=alert]')
  const say = (text) => {
    alert.textContent = text
    alert.hidden = false
  }
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const json = JSON.parse(form.dataset.options)
    if (!window.PublicKeyCredential?.parseRequestOptionsFromJSON) return say(alert.dataset.missing)
    try {
      const credential =
        form.dataset.passkey === 'create'
          ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(json) })
          : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(json) })
      form.elements.answer.value = JSON.stringify(credential)
      form.submit()
    } catch {
      say(alert.dataset.failed)
    }
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
