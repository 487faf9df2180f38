import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import {
  accessibilityFaults,
  addAuthenticator,
  assertNoHorizontalScroll,
  openBrowser,
  screenshot,
  type TestBrowser,
  type WatchedPage,
} from '@agent-exchange/testkit/browser'
import { QUICK_LOG, until } from '@agent-exchange/testkit'
import { CLIENT_ID, CLIENT_SECRET, startIdentityProvider } from '@agent-exchange/testkit/identity-provider'
import type { Page } from 'playwright-core'
import { AGENT_ROUTES, routeOf } from '../../desk/src/desk-routes.ts'
import { hostileObject, MARKUP } from '../../desk/src/hostile-object.fixture.ts'
import { SKILL } from '../src/startup/two-instances.fixture.ts'
import { startApprovingCompany } from '../src/desk/approving-company.fixture.ts'

const MAXIMUM_BYTES = 100_000
const PHONE = { viewport: { width: 390, height: 844 } }
/** Addresses of one kind of page: a waiting draft and a sent one are two pages. */
const VISITED_OF_A_KIND = 2
const NAVIGATION_MS = 60_000
const FILES = /(?:\.json|\.html)$/u
/** It leads to the provider, whose page is not ours. */
const PROVIDER = '/sign-in/oidc?'
const SHOWN_MARKUP = MARKUP.replace('\u202e', '\\u{202e}')
/** The page of one person, of the host and not of an agent. */
const PERSON_KIND = '/people/:id'
const EVERY_ROLE = ['reader', 'planner', 'approver', 'auditor', 'administrator'] as const

let stack: AsyncDisposableStack
let company: Awaited<ReturnType<typeof startApprovingCompany>>
let browser: TestBrowser
let provider: Awaited<ReturnType<typeof startIdentityProvider>>
let threadId: string

before(async () => {
  stack = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'aex-pages-'))
  stack.defer(() => rmSync(folder, { recursive: true }))
  const secretFile = join(folder, 'secret')
  writeFileSync(secretFile, CLIENT_SECRET)
  company = stack.use(
    await startApprovingCompany({
      world: { profile: QUICK_LOG, config: { role: 'all' } },
      async settings(origin) {
        provider = stack.use(await startIdentityProvider([`${origin}/sign-in/oidc/callback`]))
        return {
          AEX_GATEWAY_OIDC_ISSUER: provider.issuer,
          AEX_GATEWAY_OIDC_CLIENT_ID: CLIENT_ID,
          AEX_GATEWAY_OIDC_CLIENT_SECRET_FILE: secretFile,
          AEX_GATEWAY_OIDC_ROLES: `groups:${EVERY_ROLE.map((role) => `${role}s=${role}`).join(',')}`,
        }
      },
    }),
  )
  await company.addAgent('rails')
  await company.gateway.agents.refresh()
  threadId = await tellHostileThread()
  browser = stack.use(await openBrowser())
})
after(() => stack?.disposeAsync())

/** The other company puts markup into whatever it may write, and into the reason of a revocation. */
async function tellHostileThread(): Promise<string> {
  const { hosted, partner, gateway } = company
  const toPartner = { organizationId: 'org_partner', agentId: 'agent_partner' }
  const own = hosted.agent.make.policyEnvelope({ to: 'org_partner', purpose: 'supply planning' })
  const first = hosted.agent.make.reasoningPackage({
    to: 'org_partner',
    policy: own,
    summary: 'Rails are short.',
    facts: ['A coil moved.'],
    ask: 'Confirm week 13.',
  })
  const sent = await hosted.agent.send({ object: first, policy: own, to: toPartner, skill: SKILL })
  await partner.open(sent.packageId)
  const plain = partner.make.policyEnvelope({ to: 'org_seats', purpose: MARKUP })
  const granularity = { ...plain.granularity, level: MARKUP }
  const policy = { ...plain, granularity, retention: { duration_days: 90 } }
  const terms = {
    by: partner.identity,
    to: 'org_seats',
    now: new Date(),
    policyId: policy.policy_id,
    threadId: sent.threadId,
  }
  const to = { organizationId: 'org_seats', agentId: hosted.agentId }
  const { object: answer } = hostileObject('response_object', terms)
  await partner.respond(sent.packageId, {
    object: { ...answer, responds_to_package_id: sent.packageId },
    policy,
    skill: SKILL,
  })
  for (const type of ['reasoning_package', 'network_story', 'loop_thread', 'audit_event'] as const)
    await partner.send({ object: hostileObject(type, terms).object, policy, to, skill: SKILL })
  const { object } = hostileObject('reasoning_package', terms)
  const revoked = await partner.send({ object, policy, to, skill: SKILL })
  await partner.revoke(revoked.packageId, { reasonCode: 'superseded', reasonDetail: MARKUP })
  const page = { threadId: sent.threadId, limit: 10 }
  await until(
    'the packages are stored',
    async () => (await gateway.contents.list(hosted.agentId, page)).length >= 5,
  )
  return sent.threadId
}

/** A phone that is signed in by the provider, at the agent of the thread. */
async function signedIn(name: string, roles: readonly string[]): Promise<WatchedPage> {
  provider.setPerson({ sub: name, name, groups: roles.map((role) => `${role}s`) })
  const watched = await browser.open(`${company.origin}/sign-in`, PHONE)
  const { page } = watched
  await page.getByRole('link', { name: 'Sign in with your company account' }).click()
  await page.getByRole('combobox', { name: 'Agent' }).selectOption(company.hosted.agentId)
  await page.getByRole('button', { name: 'Show' }).click()
  await page.getByText('You see another agent now.').waitFor()
  return watched
}

/** The page fits a phone, is small and accessible, asks nobody else, and shows foreign text as text. */
async function assertGoodPage({ page, faults, foreignRequests }: WatchedPage, name: string): Promise<void> {
  const bytes = Buffer.byteLength(await page.content())
  assert.ok(bytes < MAXIMUM_BYTES, `${name}: ${bytes} bytes`)
  await page.evaluate("document.querySelectorAll('main details').forEach((each) => (each.open = true))")
  await screenshot(page, `gateway-${name.replaceAll(/[^\w]+/gu, '-')}`)
  await assertNoHorizontalScroll(page).catch((error: unknown) => assert.fail(`${name}: ${String(error)}`))
  assert.deepEqual(await accessibilityFaults(page), [], name)
  await assertText(page, name)
  // A page with the status of a failure is a line in the console.
  assert.deepEqual(
    faults.filter((fault) => !/the server responded with a status of 4\d\d/u.test(fault)),
    [],
    name,
  )
  const strangers = foreignRequests.filter((url) => !url.startsWith(provider.issuer))
  assert.deepEqual(strangers, [], name)
}

async function assertText(page: Page, name: string): Promise<void> {
  assert.notEqual(await page.title(), 'owned', name)
  assert.equal(await page.locator('img[src="x"], main script, [onerror]').count(), 0, name)
  assert.ok(!((await page.textContent('body')) ?? '').includes('\u202e'), name)
}

/** The route of an address, with the names of its query: pages of one kind look alike. */
function kindOf(address: string): string {
  const { pathname, searchParams } = new URL(address, company.origin)
  const found = routeOf(AGENT_ROUTES, 'GET', pathname)
  const path = typeof found === 'object' ? found.route.path : pathname.replace(/^\/people\/.+/u, PERSON_KIND)
  const names = [...new Set(searchParams.keys())].join('&')
  return names === '' ? path : `${path}?${names}`
}

test('every page of the desk is small, accessible and quiet on a phone, with hostile text in every field', async (t) => {
  await using watched = await signedIn(MARKUP, EVERY_ROLE)
  const { page } = watched
  // Evidence is verified while the page loads, which takes a while on a busy machine.
  page.setDefaultNavigationTimeout(NAVIGATION_MS)
  await company.draft()
  const visited = new Map<string, number>()
  const waiting = ['/', `/evidence/${threadId}`]
  const seen = new Set(waiting)
  /** All bad pages, and not only the first. */
  const bad: string[] = []
  let shown = 0
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const kind = kindOf(path)
    const times = visited.get(kind) ?? 0
    if (times >= VISITED_OF_A_KIND || FILES.test(kind)) continue
    visited.set(kind, times + 1)
    await page.goto(company.origin + path)
    await assertGoodPage(watched, path).catch((error: unknown) => void bad.push(`${path}: ${String(error)}`))
    shown += ((await page.locator('main').textContent()) ?? '').split(SHOWN_MARKUP).length - 1
    const links = await page
      .locator('a[href^="/"]')
      .evaluateAll((found) => found.map((link) => link.getAttribute('href') ?? ''))
    for (const link of links) {
      const [address = ''] = link.split('#')
      if (seen.has(address) || address.startsWith(PROVIDER)) continue
      seen.add(address)
      waiting.push(address)
    }
  }
  t.diagnostic(
    `${[...visited.values()].reduce((sum, each) => sum + each, 0)} pages, ${shown} times the markup`,
  )
  assert.deepEqual(bad, [])
  assert.ok(shown > 100, `the markup is shown ${shown} times`)
  const expected = AGENT_ROUTES.filter(({ method, path }) => method === 'GET' && !FILES.test(path))
  const kinds = new Set([...visited.keys()].map((kind) => kind.split('?')[0]))
  assert.deepEqual(
    expected.map(({ path }) => path).filter((path) => !kinds.has(path)),
    [],
    'pages without a check',
  )
  for (const path of ['/people', PERSON_KIND, '/sessions', '/record', '/passkeys', '/delegations'])
    assert.ok(kinds.has(path), `${path} was not reached by a link`)
})

test('what a person sees before the sign-in, after a refusal and between two steps is as good', async () => {
  const { origin } = company
  await using stranger = await browser.open(`${origin}/sign-in`, PHONE)
  await assertGoodPage(stranger, 'sign-in')
  for (const path of [
    '/drafts',
    '/sign-in/passkey',
    '/enter?link=unknown',
    `/sign-in?next=${encodeURIComponent(`/${MARKUP}`)}`,
    `/sign-in/oidc/callback?error=access_denied&error_description=${encodeURIComponent(MARKUP)}`,
  ]) {
    await stranger.page.goto(origin + path)
    await assertGoodPage(stranger, `out ${path.split('?')[0]}`)
  }
  await stranger.page.goto(`${origin}/enter?link=unknown`)
  await stranger.page.getByRole('button', { name: 'Sign in' }).click()
  await assertGoodPage(stranger, 'link gone')

  await using refused = await signedIn('Nobody', ['auditor'])
  await assertGoodPage(refused, 'start of an auditor')
  for (const path of ['/nothing', '/people', '/passkeys/new', `/evidence/pkg_${'0'.repeat(32)}`]) {
    const answered = await refused.page.goto(origin + path)
    assert.ok((answered?.status() ?? 0) >= 400, path)
    await assertGoodPage(refused, `refused ${path.slice(0, 12)}`)
  }

  await using administrator = await signedIn(`Ada ${MARKUP}`, ['administrator'])
  const { page } = administrator
  await assertGoodPage(administrator, 'start of an administrator')
  await page.goto(`${origin}/people`)
  await page.getByLabel('Name').fill(MARKUP)
  await page.getByLabel(/^planner/u).check()
  await page.getByRole('button', { name: 'Invite' }).click()
  await page.getByText('Give this link to the person.').waitFor()
  await assertGoodPage(administrator, 'people with a link')
  await page.goto(`${origin}/people`)
  // Somebody of the provider has the same name.
  const invited = page.getByRole('row').filter({ hasText: 'invitation' }).filter({ hasText: 'planner' })
  await invited.getByRole('link').first().click()
  await page.getByText('New link…').click()
  await page.getByText('Remove…').click()
  await assertGoodPage(administrator, 'person invited')
  await page.getByRole('button', { name: 'Save the roles' }).click()
  await page.getByText('The roles were changed.').waitFor()
  await page.goto(`${origin}/people`)
  await page.getByLabel('Name').fill('Nobody')
  await page.getByRole('button', { name: 'Invite' }).click()
  await page.getByText('Give at least one role.').waitFor()
  await assertGoodPage(administrator, 'people refused')
})

test('a passkey, a decision and a composed answer show each step as well', async () => {
  const { origin } = company
  await using watched = await signedIn('Ida Berg', ['planner', 'approver'])
  const { page } = watched
  await addAuthenticator(page)
  await page.goto(`${origin}/passkeys`)
  await assertGoodPage(watched, 'passkeys without a fresh sign-in')
  await page.getByRole('link', { name: 'Sign in again, then register' }).click()
  await page.getByLabel('Name').fill(MARKUP.slice(0, 90))
  await page.getByRole('button', { name: 'Continue' }).click()
  await assertGoodPage(watched, 'new passkey')
  await page.getByRole('button', { name: 'Create the passkey' }).click()
  await page.getByText('The passkey is registered.').waitFor()
  await assertGoodPage(watched, 'passkeys')
  const draft = await company.draft()
  await page.goto(`${origin}/drafts/${draft.draftId}`)
  await page.getByLabel('Reason').fill(MARKUP)
  await page.getByRole('button', { name: 'Approve…' }).click()
  await page.getByRole('button', { name: 'Approve with passkey' }).waitFor()
  await assertGoodPage(watched, 'decision')
  await page.getByRole('button', { name: 'Approve with passkey' }).click()
  await page.getByText('Your approval is recorded.').waitFor()
  await assertGoodPage(watched, 'decided draft')

  await page.goto(`${origin}/threads/${threadId}`)
  await page.getByRole('link', { name: 'Challenge a fact' }).first().click()
  await page.getByLabel('Your answer in a sentence').fill(MARKUP)
  await page.locator('#compose-result').getByText('What the other side will read').waitFor()
  await assertGoodPage(watched, 'live preview')
  assert.ok(((await page.locator('#compose-result').textContent()) ?? '').includes(SHOWN_MARKUP))
})

test('the printable report shows hostile text as text', async () => {
  await using watched = await signedIn('Kim Lie', ['auditor'])
  const { page } = watched
  const file = await page.request.get(`${company.origin}/evidence/${threadId}/report.html`)
  assert.equal(file.status(), 200)
  const body = await file.text()
  assert.ok(body.length < MAXIMUM_BYTES * 2, `${body.length} characters`)
  // As a file: only its own policy forbids scripts there.
  await using opened = await browser.open('about:blank', PHONE)
  await opened.page.setContent(body)
  assert.notEqual(await opened.page.title(), 'owned')
  assert.equal(await opened.page.locator('img, script, [onerror]').count(), 0)
  await assertNoHorizontalScroll(opened.page)
  assert.deepEqual(await accessibilityFaults(opened.page), [])
  assert.deepEqual(opened.foreignRequests, [])
})
