import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freePorts, startWorld } from '@agent-exchange/testkit'
import { accessibilityFaults, openBrowser, screenshot } from '@agent-exchange/testkit/browser'
import { CLIENT_ID, CLIENT_SECRET, startIdentityProvider } from '@agent-exchange/testkit/identity-provider'
import { parseRoles } from '../src/config/operator-sign-on.ts'

test('somebody signs in with the company account, although the provider is another site', async () => {
  const [operatorPort = 0] = await freePorts(1)
  const origin = `http://127.0.0.1:${operatorPort}`
  // Another site than 127.0.0.1: a strict cookie does not come along on the way back from there.
  await using provider = await startIdentityProvider([`${origin}/sign-in/oidc/callback`], {
    host: 'localhost',
  })
  const roles = parseRoles('groups:aex-ops=operator')
  await using world = await startWorld({
    config: {
      operatorPort,
      operatorSignOn: { issuer: provider.issuer, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, roles },
    },
  })
  await using browser = await openBrowser()
  await using watched = await browser.open(`${world.operatorUrl}/operator-log`)
  const { page, faults } = watched
  await screenshot(page, 'console-sign-on')
  assert.deepEqual(await accessibilityFaults(page), [])

  provider.setPerson({ sub: 'u-1', groups: [] })
  await page.getByRole('link', { name: 'Sign in with your company account' }).click()
  await page.getByRole('heading', { name: 'You have no role here' }).waitFor()
  assert.deepEqual(await accessibilityFaults(page), [])

  provider.setPerson({ sub: 'u-1', email: 'ada@company.example', email_verified: true, groups: ['aex-ops'] })
  await page.goto(`${world.operatorUrl}/operator-log`)
  await page.getByRole('link', { name: 'Sign in with your company account' }).click()
  await page.getByRole('heading', { name: 'Operator log' }).waitFor()
  assert.equal(new URL(page.url()).pathname, '/operator-log')
  await page.getByText('oidc:ada@company.example').first().waitFor()
  // The page without a role was answered with 403.
  assert.deepEqual(
    faults.filter((fault) => !fault.includes('403')),
    [],
  )
})
