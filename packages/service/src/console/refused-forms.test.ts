import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startWorld, type World } from '@agent-exchange/testkit'
import { consoleClient, type ConsoleClient } from './console-client.fixture.ts'
import { findPage } from './find-page.ts'
import { pages } from './console-pages.ts'
import { typedValues } from './typed-values.ts'

let world: World
let client: ConsoleClient
before(async () => {
  world = await startWorld()
  await world.operate('POST', '/organizations', { organization_id: 'org_acme', name: 'Acme' })
  const { body } = await world.operate('POST', '/operators', { name: 'root', role: 'administrator' })
  client = consoleClient(world.operatorUrl)
  await client.signIn(String(body['token']))
})
after(async () => {
  await world[Symbol.asyncDispose]()
})

/** Of a text field, or of a text area. */
function valueOf(page: string, id: string): string | undefined {
  const [, input] = new RegExp(`<input[^>]*id="${id}"[^>]*\\svalue="([^"]*)"`, 'u').exec(page) ?? []
  const [, area] = new RegExp(`<textarea[^>]*id="${id}"[^>]*>\\n([^<]*)`, 'u').exec(page) ?? []
  return input ?? area
}

test('a refused form comes back with what was typed, and says what is wrong beside its field', async () => {
  const typed = { organization_id: 'Acme', name: 'Müller & "Söhne"', contact: 'a@b.example', reason: 'new' }
  const { status, text } = await client.submit('/organizations', typed, '/organizations/new')
  assert.equal(status, 422)
  assert.match(text, /<h1>Create an organization<\/h1>/u)
  assert.match(text, /Nothing was changed\. Please correct the form\./u)
  assert.equal(valueOf(text, 'organization-organization_id'), 'Acme')
  assert.equal(valueOf(text, 'organization-name'), 'Müller &amp; &quot;Söhne&quot;')
  assert.equal(valueOf(text, 'organization-contact'), 'a@b.example')
  assert.equal(valueOf(text, 'organization-reason'), 'new')
  assert.match(text, /id="organization-organization_id"[^>]*autofocus[^>]*aria-invalid="true"/u)
  assert.equal(text.match(/aria-invalid/gu)?.length, 1)
  // A reload loads the form again and does not send it.
  assert.match(text, /<link rel="canonical" href="\/organizations\/new" \/>/u)
  assert.doesNotMatch((await client.get('/organizations/new')).text, /Acme|Please correct/u)
})

test('an empty field is called required, and an id that is taken leaves the rest as it was', async () => {
  const empty = { organization_id: 'org_new', name: ' ', contact: '', reason: '' }
  const refused = await client.submit('/organizations', empty, '/organizations/new')
  assert.match(refused.text, /id="organization-name-error">[^]*?This is required\./u)
  assert.doesNotMatch(refused.text, /Add the member/u)
  const taken = { organization_id: 'org_acme', name: 'Acme again', contact: '', reason: '' }
  const conflict = await client.submit('/organizations', taken, '/organizations/new')
  assert.equal(conflict.status, 409)
  assert.match(conflict.text, /org_acme exists already/u)
  assert.equal(valueOf(conflict.text, 'organization-name'), 'Acme again')
})

test('the confirmation that was refused is open, and no other form of the page is filled', async () => {
  const page = '/organizations/org_acme'
  const typed = { contact: 'nobody', reason: 'moved' }
  const { text } = await client.submit(`${page}/contact`, typed, page)
  assert.equal(text.match(/<details [^>]*\sopen/gu)?.length, 1)
  assert.match(text, /<details [^>]*open[^>]*>\s*<summary>Change the contact…/u)
  assert.equal(valueOf(text, 'contact-contact'), 'nobody')
  assert.equal(valueOf(text, 'contact-reason'), 'moved')
  assert.equal(valueOf(text, 'suspend-reason'), undefined)

  const rotated = await client.submit('/keys/rotate', { purpose: 'token', reason: 'a\u0007b' }, '/keys')
  assert.equal(rotated.text.match(/<details [^>]*\sopen/gu)?.length, 1)
  assert.match(rotated.text, /id="rotate-token-reason"[^>]*aria-invalid/u)
})

test('choices are kept: a selected option stays selected', async () => {
  const typed = { organization_id: 'org_none', agent_id: '', lifetime: '604800', reason: '' }
  const { status, text } = await client.submit('/invitations', typed, '/invitations/new')
  assert.equal(status, 404)
  assert.match(text, /<option value="604800" selected>/u)
  assert.equal(valueOf(text, 'invitation-organization_id'), 'org_none')
})

test('a secret in a refused form is not sent back, and what stands beside it is', async () => {
  const secret = 'jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI'
  const jwk = { kty: 'EC', crv: 'P-256', x: 'x', y: 'y' }
  const page = '/organizations/org_acme'
  const pem = `-----BEGIN PRIVATE KEY-----\n${secret}\n-----END PRIVATE KEY-----`
  for (const typed of [
    { public_jwk: JSON.stringify({ ...jwk, d: secret }) },
    { public_jwk: `{ "keys": [{ "d" : "${secret}" }] }` },
    { public_jwk: `{ "\\u0064": "${secret}" ` },
    { certificate: pem },
    { tls_san_dns: `aexop_${secret}` },
  ]) {
    const fields = { agent_id: 'agent_acme', reason: 'key lost', ...typed }
    const { status, text } = await client.submit(`${page}/clients`, fields, `${page}/add-client`)
    assert.ok(status >= 400 && status < 500, String(status))
    assert.ok(!text.includes(secret), JSON.stringify(typed))
    assert.equal(valueOf(text, 'client-agent_id'), 'agent_acme')
    assert.equal(valueOf(text, 'client-reason'), 'key lost')
  }
  const values = typedValues('mirror_url=https%3A%2F%2Fme%3Apass%40host%2F&reason=x%40y&csrf_token=t')
  assert.deepEqual([...values], [['reason', 'x@y']])
})

test('the page of a form is found as the router finds it', () => {
  const at = (path: string) => {
    const found = findPage(pages, path)
    return found && [found.page.path, found.params]
  }
  assert.deepEqual(at('/organizations/new'), ['/organizations/new', {}])
  assert.deepEqual(at('/organizations/org_a'), [
    '/organizations/:organization_id',
    { organization_id: 'org_a' },
  ])
  assert.deepEqual(at('/organizations/org_a/connectors/edc%201%2Fnew')?.[1], {
    organization_id: 'org_a',
    connector_id: 'edc 1/new',
  })
  assert.deepEqual(at('/organizations/%zz')?.[1], { organization_id: '%zz' })
  assert.equal(at('/organizations/org_a/suspend'), undefined)
  assert.equal(at('/nowhere'), undefined)
})
