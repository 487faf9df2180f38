import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  approveConnector,
  deliveryWorld,
  draftPackage,
  sendPackage,
  sendReceipt,
  sendRevocation,
  setScene,
  submit,
  type DeliveryWorld,
} from '@agent-exchange/testkit'
import { consoleClient } from './console-client.fixture.ts'
import { pages } from './console-pages.ts'

const CANARY = 'CANARY-of-a-package'
/** The same text in the encodings in which it could be shown. */
const SPELLINGS = [CANARY, ...(['base64', 'base64url', 'hex'] as const).map(encoded)]
const MAXIMUM_PAGES = 400
const MAXIMUM_PAGE_BYTES = 100_000
const LINK = /\shref="(\/[^"#]*)/gu

/** Without the end, which depends on what follows. */
function encoded(encoding: BufferEncoding): string {
  return Buffer.from(CANARY).toString(encoding).slice(0, 20)
}

/** Content where it belongs, and where an agent may put it by mistake: everything that the exchange stores for it. */
async function sendCanaries({ sender, owner, receiver, until }: DeliveryWorld): Promise<void> {
  const receipt = {
    statement: `Evaluated: ${CANARY}`,
    human_approval: {
      required: true,
      outcome: 'approved',
      approval_reference: CANARY,
      approved_at: sender.world.clock.now(),
    },
  } as const
  receiver.reply = (_request, response) => void response.writeHead(400, { 'x-why': CANARY }).end(CANARY)
  const opened = await draftPackage(sender, owner, { plaintext: Buffer.from(CANARY), receipt })
  assert.equal((await submit(sender, opened)).status, 202)
  await until((all) => all.some(({ state }) => state === 'failed'), 'failed')
  for (const state of ['received', 'opened'])
    assert.ok((await sendReceipt(owner, opened.metadata, state)).status < 300)
  const answer = await draftPackage(owner, sender, {
    plaintext: Buffer.from(CANARY),
    threadId: opened.metadata.thread_id,
    respondsTo: opened.metadata.package_id,
  })
  assert.equal((await submit(owner, answer)).status, 202)
  const revoked = await sendPackage(sender, owner, { plaintext: Buffer.from(CANARY), receipt })
  const revocation = await sendRevocation(sender, revoked.metadata, { change: { reason_detail: CANARY } })
  assert.ok(revocation.status < 300, revocation.text)
}

/** At least one row for every page with an id in its address. */
async function fillLists({ world, sender }: DeliveryWorld): Promise<void> {
  await setScene(world)
  await approveConnector(sender)
  const organization_id = sender.organizationId
  const { status } = await world.operate('POST', '/invitations', { organization_id })
  assert.ok(status < 300)
}

test('no page of the console shows content; each has a title, fits 100 KB, and every page is reached by links', async () => {
  await using setting = await deliveryWorld()
  const { world } = setting
  await setting.endpoint()
  await sendCanaries(setting)
  await fillLists(setting)
  const { body } = await world.operate('POST', '/operators', { name: 'crawler', role: 'administrator' })
  const client = consoleClient(world.operatorUrl)
  assert.equal((await client.signIn(String(body['token']))).status, 303)

  const found = new Set(['/'])
  const titles = new Map<string, string>()
  for (const path of found) {
    assert.ok(titles.size < MAXIMUM_PAGES, `the crawl does not end: ${path}`)
    const { status, text, headers } = await client.get(path)
    assert.equal(status, 200, path)
    const everything = text + JSON.stringify([...headers])
    assert.deepEqual(
      SPELLINGS.filter((spelling) => everything.includes(spelling)),
      [],
      path,
    )
    if (!headers.get('content-type')?.startsWith('text/html')) continue
    const bytes = Buffer.byteLength(text)
    assert.ok(bytes < MAXIMUM_PAGE_BYTES, `${path}: ${bytes} bytes`)
    const [, title = ''] = /<title>([^<]+)<\/title>/u.exec(text) ?? []
    assert.match(title, /^\S.* · Agent Exchange$/u, path)
    titles.set(path, title)
    for (const [, address = ''] of text.matchAll(LINK)) found.add(address.replaceAll('&amp;', '&'))
  }

  const visited = [...titles.keys()].map((path) => path.split('?')[0] ?? '')
  const patterns = pages.filter(({ method }) => method === 'GET').map(({ path }) => path)
  const missed = patterns.filter((pattern) => {
    const expression = new RegExp(`^${pattern.replaceAll(/:\w+/gu, '[^/]+')}$`, 'u')
    return !visited.some((path) => expression.test(path))
  })
  assert.deepEqual(missed, [])
})
