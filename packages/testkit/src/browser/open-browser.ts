import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { findChromium } from './chromium.ts'

/** A page that keeps an account of what a strict site must not do. */
export interface WatchedPage extends AsyncDisposable {
  readonly page: Page
  /** Violations of the Content Security Policy, failed requests and uncaught errors, as the browser reports them. */
  readonly faults: readonly string[]
  /** Requests to any other origin than the one that was opened first. */
  readonly foreignRequests: readonly string[]
}

export interface TestBrowser extends AsyncDisposable {
  open(address: string, options?: BrowserContextOptions): Promise<WatchedPage>
}

const NAVIGATION_TIMEOUT_MS = 20_000

/** One browser for a test file; each `open` has cookies and storage of its own. */
export async function openBrowser(): Promise<TestBrowser> {
  const found = findChromium()
  if ('why' in found) throw new Error(found.why)
  const browser = await chromium.launch({
    executablePath: found.path,
    // Root has no sandbox to drop into; the pages are ours.
    args: ['--no-sandbox', '--disable-background-networking', '--font-render-hinting=none'],
  })
  return {
    open: (address, options) => open(browser, address, options),
    [Symbol.asyncDispose]: () => browser.close(),
  }
}

async function open(
  browser: Browser,
  address: string,
  options?: BrowserContextOptions,
): Promise<WatchedPage> {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(NAVIGATION_TIMEOUT_MS)
  const { origin } = new URL(address)
  const faults: string[] = []
  const foreignRequests: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) foreignRequests.push(request.url())
  })
  await page.goto(address)
  return { page, faults, foreignRequests, [Symbol.asyncDispose]: () => context.close() }
}
