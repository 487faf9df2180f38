export {
  accessibilityFaults,
  assertNoHorizontalScroll,
  assertQuiet,
  checkPage,
  picture,
  screenshot,
  type PageCheck,
} from './check-page.ts'
export { findChromium } from './chromium.ts'
export { openBrowser, type TestBrowser, type WatchedPage } from './open-browser.ts'
export { addAuthenticator } from './virtual-authenticator.ts'
