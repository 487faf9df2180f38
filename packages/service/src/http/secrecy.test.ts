import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { canonicalBytes, generateKeyPair } from '@agent-exchange/crypto'
import { exampleObjects, OPERATION_IDS } from '@agent-exchange/protocol'
import {
  assertProblem,
  draftPackage,
  sendPackage,
  sendReceipt,
  setScene,
  startWorld,
  type Answer,
  type Organization,
} from '@agent-exchange/testkit'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const scene = await setScene(world)
const { sender, recipient } = scene
const CANARY = 'plaintext-canary-90c1b7'

/** Every encoding in which the bytes could appear. */
function forms(bytes: Buffer): string[] {
  return [
    bytes.toString('base64url'),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
  ]
}

function privateKeys({ clientKey, signing, encryption }: Organization): string[] {
  return [clientKey, signing.pair, encryption.pair].flatMap(({ privateJwk }) => [
    privateJwk.d,
    ...forms(Buffer.from(privateJwk.d, 'base64url')),
  ])
}

/** The whole database as text, with bytea in hexadecimal. */
async function database(): Promise<string> {
  const tables = await world.sql<{ name: string }[]>`
    select relname as name from pg_class
    where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace`
  const dumps = await Promise.all(
    tables.map(
      ({ name }) => world.sql<{ text: string }[]>`select t::text as text from ${world.sql(name)} as t`,
    ),
  )
  // Content is stored in chunks, so chunks are joined before the search.
  const contents = await world.sql<{ text: string }[]>`
    select encode(string_agg(payload, '' order by part), 'hex') as text from package_content group by package_id`
  return [...dumps.flat(), ...contents].map(({ text }) => text).join('\n')
}

async function everywhere(answers: readonly Answer[]): Promise<Record<string, string>> {
  const metrics = await fetch(`${world.operatorUrl}/metrics`)
  return {
    database: await database(),
    log: world.logged.join(''),
    metrics: await metrics.text(),
    answers: answers.map(({ text, headers }) => text + JSON.stringify([...headers])).join('\n'),
  }
}

function assertAbsent(places: Record<string, string>, secrets: readonly string[]): void {
  for (const [place, text] of Object.entries(places)) {
    assert.ok(text.length > 0, place)
    for (const secret of secrets) assert.equal(text.includes(secret), false, `${place} holds ${secret}`)
  }
}

test('[PKG-14][ERR-02] neither the plaintext nor any private key is anywhere in database, log, metrics or answers', async () => {
  const plaintext = canonicalBytes({ ...exampleObjects.reasoning_package, intent: CANARY })
  const answers: Answer[] = []
  const draft = await sendPackage(sender, recipient, { plaintext })
  const { metadata } = draft
  const found = await recipient.get(`/v1/packages/${metadata.package_id}`)
  answers.push(found, await recipient.get(String(found.body['ciphertext_download_url'])))
  for (const state of ['received', 'opened']) answers.push(await sendReceipt(recipient, metadata, state))
  for (const id of OPERATION_IDS) answers.push(await (await scene.make(id)).send())
  for (const path of ['threads', 'audit/threads'])
    answers.push(await sender.get(`/v1/${path}/${metadata.thread_id}`))
  answers.push(await sender.get(`/v1/audit/packages/${metadata.package_id}`))
  assert.ok(answers.every(({ status }) => status < 300))
  const places = await everywhere(answers)
  // Control: the same search finds data that must be there.
  assert.ok(
    places['database']?.includes(metadata.package_id) && places['answers']?.includes(metadata.package_id),
  )
  assert.ok('payload' in draft.body)
  assert.ok(
    places['database']?.includes(Buffer.from(draft.body.payload, 'base64url').toString('hex').slice(0, 200)),
  )
  assertAbsent(places, [
    CANARY,
    ...forms(Buffer.from(CANARY)),
    ...privateKeys(sender),
    ...privateKeys(recipient),
  ])
})

test('[ID-06][PKG-14][ERR-02] a private key that is sent by mistake is refused and stored nowhere', async () => {
  const { privateJwk } = await generateKeyPair('signing')
  const key = {
    key_id: 'k',
    use: 'signing',
    format: 'jwk',
    public_key: privateJwk,
    valid_from: '2026-01-01T00:00:00Z',
  }
  const registration = { ...sender.registration(), agent_id: 'agent_leaky', keys: [key] }
  const answers = [
    await sender.post(`/v1/agents/${sender.agentId}/keys`, key),
    await sender.post('/v1/agents/register', registration),
    await sender.post('/v1/agents/register', { ...registration, unknown: privateJwk, keys: 'none' }),
    await sender.post('/v1/policy-receipts', { jwk: privateJwk }),
    await sender.post('/v1/packages', { ...privateJwk }),
  ]
  for (const answer of answers.slice(0, 2)) assertProblem(answer, 'private_key_refused')
  for (const { status } of answers) assert.equal(status, 422)
  const secrets = [privateJwk.d, ...forms(Buffer.from(privateJwk.d, 'base64url'))]
  assertAbsent(await everywhere(answers), secrets)
})

const canary = (name: string) => `canary-${name}-41ff`

test('[ERR-02] tokens, idempotency keys, paths, queries and bodies appear in no problem and no log line', async () => {
  const token = await sender.token()
  const draft = await draftPackage(sender, recipient)
  const answers = [
    await sender.get(`/v1/agents/${canary('path')}?x=${canary('query')}`),
    await sender.get(`/v1/${canary('unknown-path')}`),
    await sender.get('/v1/skills', { headers: { authorization: `Bearer ${canary('token')}` } }),
    await sender.get('/v1/skills', { headers: { authorization: canary('scheme') } }),
    await sender.get('/v1/skills', {
      headers: { 'x-other': canary('header'), 'user-agent': canary('agent') },
    }),
    await sender.get(`/v1/notifications?after=${canary('cursor')}`),
    await sender.get(`/v1/notifications?limit=${canary('limit')}`),
    await sender.post('/v1/packages', draft.body, { idempotencyKey: canary('key') }),
    await sender.post('/v1/packages', { ...draft.body, signature: canary('signature') }),
    await sender.post('/v1/policy-receipts', { ...draft.receipt, statement: canary('altered') }),
    await sender.post('/v1/webhook-endpoints', { url: canary('url'), event_types: canary('types') }),
    await sender.post('/v1/webhook-endpoints', undefined, { raw: canary('syntax') }),
    await sender.post('/v1/webhook-endpoints', {}, { headers: { 'content-type': canary('type') } }),
  ]
  assert.equal(answers.filter(({ status }) => status < 300).length, 1)
  const places = { log: world.logged.join(''), answers: answers.map(({ text }) => text).join('') }
  assertAbsent(places, ['canary-', token, token.split('.')[2] ?? token])
  const metrics = await (await fetch(`${world.operatorUrl}/metrics`)).text()
  assertAbsent({ metrics }, ['canary-'])
})
