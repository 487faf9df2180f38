import { startWorld } from '@agent-exchange/testkit'
import { openBrowser, type TestBrowser, type WatchedPage } from '@agent-exchange/testkit/browser'
import type { Page } from 'playwright-core'
import { PASSPHRASE, startTwoDesks, type DeskSide, type TwoDesks } from '../src/desk.fixture.ts'

type BrowserOptions = Parameters<TestBrowser['open']>[1]

/** Evidence starts with a published checkpoint. */
const QUICK_LOG = {
  'O-07': { transparency_checkpoint_milliseconds: 100, transparency_sequence_milliseconds: 20 },
}

/** Two companies with a desk each, and a browser. */
export interface DeskTrial extends AsyncDisposable, Pick<TwoDesks, 'acme' | 'bolt'> {
  readonly browser: TestBrowser
  /** A browser that is signed in at a desk, on one of its pages. */
  signedIn(side: DeskSide, path?: string, options?: BrowserOptions): Promise<WatchedPage>
}

export async function startDeskTrial(): Promise<DeskTrial> {
  await using stack = new AsyncDisposableStack()
  const world = stack.use(await startWorld({ profile: QUICK_LOG, config: { role: 'all' } }))
  const { acme, bolt } = stack.use(await startTwoDesks(world))
  const browser = stack.use(await openBrowser())
  const open = stack.move()
  return {
    acme,
    bolt,
    browser,
    async signedIn(side, path = '/', options = {}) {
      const watched = await browser.open(side.desk.newLink(), options)
      if (path !== '/') await watched.page.goto(addressOf(side, path))
      return watched
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
}

export function addressOf({ desk }: DeskSide, path = '/'): string {
  return `http://127.0.0.1:${desk.port}${path}`
}

export async function fillDecision(page: Page, passphrase = PASSPHRASE): Promise<void> {
  await page.getByLabel('Your name').fill('Ada Example')
  await page.getByLabel('Reason').fill('The numbers are public.')
  await page.getByLabel('Approver passphrase').fill(passphrase)
}
