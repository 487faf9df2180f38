import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** Where Debian, Ubuntu, Fedora and macOS put it. */
const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** Path of a browser that starts on this machine, or why there is none. */
export function findChromium(): { readonly path: string } | { readonly why: string } {
  const path = PLACES.find((place) => existsSync(place))
  if (path === undefined) return { why: 'no chromium (Debian: apt-get install chromium)' }
  try {
    execFileSync(path, ['--version', '--no-sandbox'], { timeout: 30_000, stdio: 'ignore' })
    return { path }
  } catch {
    return { why: `${path} does not start` }
  }
}
