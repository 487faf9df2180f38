/** Enhancements. Every page works without this file; it loads before the first paint, for the theme alone. */

const THEME = 'theme'
const TICK_MS = 30_000
const COPIED_MS = 1_500
/** Bursts of events lead to one reload of a region. */
const REFRESH_MS = 1_000
/** Left of the current place, where a part of the one before it is seen. */
const MARGIN_PX = 40

const root = document.documentElement
/** Storage throws where a browser blocks it. The choice of a theme then lasts as long as the page. */
const stored = {
  read() {
    try {
      return localStorage.getItem(THEME)
    } catch {
      return null
    }
  },
  write(value) {
    try {
      localStorage.setItem(THEME, value)
    } catch {}
  },
}

const setTheme = (value) => {
  if (value === 'light' || value === 'dark') root.dataset.theme = value
  else delete root.dataset.theme
}

const watchTheme = () => {
  const choice = document.getElementById(`theme-${root.dataset.theme ?? 'auto'}`)
  if (choice) choice.checked = true
  document.addEventListener('change', ({ target }) => {
    if (target.name !== THEME) return
    setTheme(target.value)
    stored.write(target.value)
  })
}

const showCopyButtons = (within) => {
  for (const button of within.querySelectorAll('button[data-copy]')) button.hidden = !navigator.clipboard
}

const copy = async (button) => {
  const result = await navigator.clipboard.writeText(button.dataset.copy).then(
    () => 'Copied',
    () => 'Not copied',
  )
  button.textContent = result
  setTimeout(() => (button.textContent = 'Copy'), COPIED_MS)
}

const watchCopyButtons = () => {
  document.addEventListener('click', ({ target }) => {
    const button = target.closest('button[data-copy]')
    if (button) void copy(button)
  })
}

/** The same steps as relative-time.ts. */
const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
]
const relative = new Intl.RelativeTimeFormat('en', { style: 'short' })
const updateTimes = () => {
  for (const element of document.querySelectorAll('time[data-relative]')) {
    const seconds = Math.round((Date.parse(element.dateTime) - Date.now()) / 1_000)
    const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? UNITS[3]
    element.textContent = relative.format(Math.trunc(seconds / size), unit)
  }
}

/** Whoever types, or has the focus inside a region, keeps it as it is. */
const isInUse = (region) =>
  region.contains(document.activeElement) ||
  [...region.querySelectorAll('input, textarea')].some(({ value, defaultValue }) => value !== defaultValue)

/** Replaces the content of a region. What was opened stays open. */
const replaceContent = (region, fresh) => {
  const opened = new Set(
    [...region.querySelectorAll('details[open] > summary')].map(({ textContent }) => textContent),
  )
  for (const summary of fresh.querySelectorAll('details > summary'))
    if (opened.has(summary.textContent)) summary.parentElement.open = true
  region.replaceChildren(...fresh.childNodes)
  region.dataset.live = fresh.dataset.live
  showCopyButtons(region)
}

/** An event means that the server has something new: its own page is read again, and the region replaced. */
const watchRegion = (region) => {
  let timer
  let source
  const schedule = () => (timer ??= setTimeout(() => void refresh(), REFRESH_MS))
  const refresh = async () => {
    timer = undefined
    if (isInUse(region)) {
      region.addEventListener('focusout', schedule, { once: true })
      return
    }
    const response = await fetch(location.href, { headers: { accept: 'text/html' } }).catch(() => undefined)
    if (!response?.ok) return
    const fresh = new DOMParser().parseFromString(await response.text(), 'text/html')
    const content = fresh.getElementById(region.id)
    if (content && isInUse(region)) schedule()
    else if (content) replaceContent(region, content)
  }
  const stop = () => source?.close()
  // Browsers limit connections per server, so only the visible tab has a stream.
  const start = () => {
    stop()
    if (document.hidden) return
    source = new EventSource(region.dataset.live)
    source.addEventListener('changed', schedule)
  }
  start()
  document.addEventListener('visibilitychange', start)
  window.addEventListener('pagehide', stop)
}

/** A form that was refused is shown at its action: a reload must load the page that it is on, and not send it again. */
const showAddress = () => {
  const place = document.querySelector('link[rel=canonical]')
  if (place) history.replaceState(null, '', place.href)
}

/** On a narrow screen the navigation is one line that scrolls: the current place is in view. */
const showPlaces = () => {
  for (const { parentElement: item } of document.querySelectorAll('.bar [aria-current]'))
    item.parentElement.scrollLeft = item.offsetLeft - item.parentElement.offsetLeft - MARGIN_PX
}

setTheme(stored.read())
document.addEventListener('DOMContentLoaded', () => {
  showAddress()
  showPlaces()
  watchTheme()
  showCopyButtons(document)
  watchCopyButtons()
  updateTimes()
  setInterval(updateTimes, TICK_MS)
  for (const region of document.querySelectorAll('[data-live]')) watchRegion(region)
})
