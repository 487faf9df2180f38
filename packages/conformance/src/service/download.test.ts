import assert from 'node:assert/strict'
import { test } from 'node:test'
import { organizationOf } from '../run/organization.ts'
import { idSource } from '../run/seed.ts'
import { toAnswer, type WireRequest } from '../wire/wire.ts'
import { newIdentity } from './agent.ts'
import { download, holdsContent } from './download.ts'
import { draftPackage } from './draft.ts'

const BASE_URL = 'https://exchange.example'
const newId = idSource('test', 'download')

/** An agent whose service redirects every download to a store of somebody else. */
async function redirectedAgent() {
  const requests: WireRequest[] = []
  const organization = organizationOf({
    baseUrl: BASE_URL,
    organizationId: 'org_a',
    client: { clientId: 'client_a' },
    token: () => Promise.resolve('token'),
    send: (request) => {
      requests.push(request)
      const headers: Record<string, string> = request.url.startsWith(BASE_URL)
        ? { location: 'https://store.example/object' }
        : {}
      const status = headers['location'] === undefined ? 200 : 307
      return Promise.resolve({ status, headers, text: '', bytes: new Uint8Array() })
    },
    newId,
    record: (answer) => answer,
  })
  return { agent: { ...(await newIdentity(newId)), organization }, requests }
}

test('[PKG-04] a download follows a redirect, and the store gets no token', async () => {
  const { agent, requests } = await redirectedAgent()
  assert.equal((await download(agent, `${BASE_URL}/content/1`)).status, 200)
  assert.deepEqual(
    requests.map(({ url, headers }) => [url, headers['authorization']]),
    [
      [`${BASE_URL}/content/1`, 'Bearer token'],
      ['https://store.example/object', undefined],
    ],
  )
})

test('[PKG-04] a download in any form holds the sealed content, and another one does not', async () => {
  const { agent } = await redirectedAgent()
  const drafting = { newId, now: () => new Date().toISOString(), openPoints: {} }
  const [draft, other] = [
    await draftPackage(drafting, agent, agent),
    await draftPackage(drafting, agent, agent),
  ]
  const payload = Buffer.from(String(draft.body['payload']), 'base64url').toString('utf8')
  const { jwe } = JSON.parse(payload) as { jwe: { ciphertext: string } }
  const forms = [JSON.stringify(draft.body), payload, Buffer.from(jwe.ciphertext, 'base64url')]
  for (const form of forms) {
    const bytes = Buffer.from(form)
    const answer = { status: 200, headers: {}, text: bytes.toString('utf8'), bytes }
    const received = toAnswer({ method: 'GET', url: BASE_URL, headers: {} }, answer)
    assert.deepEqual([holdsContent(received, draft), holdsContent(received, other)], [true, false])
  }
})
