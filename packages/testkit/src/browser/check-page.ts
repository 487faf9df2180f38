import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'
import type { TestBrowser, WatchedPage } from './open-browser.ts'

/** Phone, laptop and large screen. Whether a page fits does not depend on its colours, so each scheme is analyzed once. */
const VIEWS = [
  { width: 360, colorScheme: 'light', isAnalyzed: true },
  { width: 1_280, colorScheme: 'dark', isAnalyzed: true },
  { width: 1_920, colorScheme: 'light', isAnalyzed: false },
] as const
const HEIGHT = 900

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** Accessibility rules that the page breaks, each with the elements; empty for a good page. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).withTags(RULES).analyze()
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${help}: ${target.join(' ')}: ${failureSummary}`),
  )
}

/** No Content Security Policy violation, no error, no request to another origin. */
export function assertQuiet({ faults, foreignRequests }: WatchedPage): void {
  assert.deepEqual(faults, [])
  assert.deepEqual(foreignRequests, [])
}

/** Fails with the elements that reach beyond the page. */
export async function assertNoHorizontalScroll(page: Page): Promise<void> {
  const { scrollWidth, clientWidth, wide } = (await page.evaluate(`(() => {
    const { scrollWidth, clientWidth } = document.documentElement
    const wide = [...document.querySelectorAll('body *')]
      .filter((each) => each.getBoundingClientRect().right > clientWidth + 1)
      .map((each) => each.tagName.toLowerCase() + (each.id && '#' + each.id) + (each.className && '.' + each.className))
    return { scrollWidth, clientWidth, wide: wide.slice(0, 8) }
  })()`)) as { scrollWidth: number; clientWidth: number; wide: string[] }
  assert.ok(
    scrollWidth <= clientWidth,
    `the page is ${scrollWidth} wide in ${clientWidth}: ${wide.join(', ')}`,
  )
}

export interface PageCheck {
  /** Of the screenshot files. */
  readonly name: string
  readonly address: string
  /** Brings the page to the state that is checked, such as an opened form. */
  readonly prepare?: (page: Page) => Promise<void>
}

/** One page in every width and both colour schemes: accessible, quiet, without horizontal scrolling; leaves screenshots. */
export async function checkPage(browser: TestBrowser, { name, address, prepare }: PageCheck): Promise<void> {
  for (const { width, colorScheme, isAnalyzed } of VIEWS) {
    await using watched = await browser.open(address, { viewport: { width, height: HEIGHT }, colorScheme })
    await prepare?.(watched.page)
    await screenshot(watched.page, `${name}-${width}-${colorScheme}`)
    await assertNoHorizontalScroll(watched.page)
    if (isAnalyzed)
      assert.deepEqual(await accessibilityFaults(watched.page), [], `${name} ${width} ${colorScheme}`)
    assertQuiet(watched)
  }
}

/** Into the folder that the runner names, or nowhere. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const folder = process.env['AEX_SCREENSHOTS']
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
}

/** A picture for the documentation: a part of a page at a width that a manual has room for. */
export async function picture(page: Page, name: string, { from = 'body', height = 760 } = {}): Promise<void> {
  const folder = process.env['AEX_SCREENSHOTS']
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  await page.setViewportSize({ width: 1_000, height })
  const box = await page.locator(from).boundingBox()
  const top = await page.evaluate('window.scrollY')
  const y = Math.max(0, (box?.y ?? 0) + Number(top) - 8)
  const path = join(folder, `picture-${name}.png`)
  await page.screenshot({ path, fullPage: true, clip: { x: 0, y, width: 1_000, height } })
}
