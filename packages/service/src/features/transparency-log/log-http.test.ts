import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { importPublicJwk, verifyDetached } from '@agent-exchange/crypto'
import {
  chainRecordLeaf,
  decodeBundle,
  keyLeaf,
  leafHash,
  openCheckpoint,
  parseProof,
  parseVerifierKey,
  rootFromTiles,
  tilePath,
  verifyConsistency,
  verifyInclusion,
  type VerifierKey,
} from '@agent-exchange/log'
import {
  EXTENSION_IDS,
  extensions,
  validatorOf,
  type EvidenceEntry,
  type Extension,
  type ExtensionId,
  type PackageMetadata,
  type PolicyReceipt,
} from '@agent-exchange/protocol'
import {
  addKey,
  assertProblem,
  organizations,
  sendPackage,
  sendReceipt,
  startWorld,
  type Organization,
} from '@agent-exchange/testkit'

const profile = {
  'O-07': { transparency_checkpoint_milliseconds: 100, transparency_sequence_milliseconds: 20 },
}
const world = await startWorld({ profile, config: { role: 'all' } })
after(() => world[Symbol.asyncDispose]())
const [seats, cars, steel] = await organizations(world, 'seats', 'cars', 'steel')

interface LogRecord {
  readonly package_id: string
  readonly chain: { readonly first_position: number; readonly last_position: number }
  readonly salt: string
  readonly index: number
  readonly proof: string
  readonly pending?: true
}

const logKey = async (): Promise<VerifierKey> => {
  const { verifier_keys } = (await seats.get('/log/key')).body as { verifier_keys: string[] }
  return parseVerifierKey(verifier_keys[0] ?? '')
}

/** Waits until every listed item is proved. */
async function proved(
  by: Organization,
  path: string,
  member: string,
): Promise<{ items: LogRecord[]; checkpoint: string }> {
  for (let tries = 0; tries < 200; tries++) {
    const { body } = await by.get(path)
    const items = (body[member] ?? []) as LogRecord[]
    if (items.length > 0 && items.every(({ pending }) => pending !== true))
      return { items, checkpoint: String(body['checkpoint']) }
    await sleep(50)
  }
  throw new Error(`${path} is still pending`)
}

async function receiptOf({ policy_receipt_id }: PackageMetadata): Promise<PolicyReceipt> {
  return (await cars.get(`/v1/policy-receipts/${policy_receipt_id}`)).body['receipt'] as PolicyReceipt
}

test('[AUD-01] both parties get a proof of every record, and it verifies with the library alone', async () => {
  const { metadata } = await sendPackage(seats, cars)
  await sendReceipt(cars, metadata, 'received')
  const key = await logKey()
  const receipt = await receiptOf(metadata)
  const { entries } = (await cars.get(`/v1/audit/threads/${metadata.thread_id}`)).body as {
    entries: EvidenceEntry[]
  }
  for (const party of [seats, cars]) {
    const { items, checkpoint } = await proved(
      party,
      `/log/records?thread_id=${metadata.thread_id}`,
      'records',
    )
    const { size, root } = await openCheckpoint(checkpoint, [key])
    assert.equal(items.length, 2)
    for (const record of items) {
      const { first_position: first, last_position: last } = record.chain
      const linkAt = (position: number, side: 'previous_hash' | 'hash') =>
        Buffer.from(entries.find(({ chain }) => chain?.position === position)?.chain?.[side] ?? '', 'hex')
      const leaf = chainRecordLeaf(
        {
          packageId: record.package_id,
          contentDigest: metadata.content_digest,
          receiptSignature: receipt.signature.signature,
          firstPosition: first,
          lastPosition: last,
          linkBefore: linkAt(first, 'previous_hash'),
          lastLink: linkAt(last, 'hash'),
        },
        Buffer.from(record.salt, 'base64url'),
      )
      const proof = parseProof(record.proof)
      assert.equal(proof.checkpoint, checkpoint)
      assert.equal(proof.index, record.index)
      verifyInclusion({ index: record.index, size, root, leafHash: leafHash(leaf), proof: proof.hashes })
    }
  }
})

test('[AUD-01] a thread of others, an unknown thread and an unknown package get the same answer', async () => {
  const { metadata } = await sendPackage(seats, cars)
  for (const path of [
    `thread_id=${metadata.thread_id}`,
    `package_id=${metadata.package_id}`,
    'thread_id=thread_unknown',
    'package_id=pkg_unknown',
  ])
    assertProblem(await steel.get(`/log/records?${path}`), 'resource_not_found', {})
  assertProblem(await seats.get('/log/records'), 'validation_failed')
  const without = await seats.get('/log/checkpoint', { headers: { authorization: undefined } })
  assert.equal(without.status, 401)
})

test('[ID-04][ID-07] key events are numbered without gaps and proved in the log', async () => {
  const added = await addKey(steel, 'signing', { replaces: steel.signing.keyId })
  assert.ok(added)
  const key = await logKey()
  const path = `/log/key-events?agent_id=${steel.agentId}`
  const { items, checkpoint } = await proved(seats, path, 'events')
  const { size, root } = await openCheckpoint(checkpoint, [key])
  assert.deepEqual(
    items.map((each) => (each as unknown as { number: number }).number),
    [1, 2, 3, 4],
  )
  for (const item of items as unknown as Record<string, string>[]) {
    const event = {
      organizationId: item['organization_id'] ?? '',
      agentId: steel.agentId,
      number: Number(item['number']),
      keyId: item['key_id'] ?? '',
      kind: item['kind'] ?? '',
      use: item['use'] ?? '',
      thumbprint: item['thumbprint'] ?? '',
      validFrom: item['valid_from'] ?? '',
      recordedAt: item['recorded_at'] ?? '',
      invalidFrom: item['invalid_from'],
    }
    const leaf = keyLeaf(event, Buffer.from(item['salt'] ?? '', 'base64url'))
    const { index, hashes } = parseProof(item['proof'] ?? '')
    verifyInclusion({ index, size, root, leafHash: leafHash(leaf), proof: hashes })
  }
  const platform = await proved(seats, '/log/key-events?agent_id=agent_platform', 'events')
  const uses = platform.items.map((each) => (each as unknown as { use: string }).use)
  assert.deepEqual(new Set(uses), new Set(['webhook', 'token', 'log', 'signing']))
})

test('the statement about the log key verifies with a key of the platform', async () => {
  const { statement } = (await seats.get('/log/key')).body as { statement: { signature: { key_id: string } } }
  const rows = await world.sql<{ public_jwk: string }[]>`
    select public_jwk from agent_key where agent_id = 'agent_platform' and key_id = ${statement.signature.key_id}`
  const publicKey = await importPublicJwk(JSON.parse(rows[0]?.public_jwk ?? '{}'), { use: 'signing' })
  await verifyDetached(statement, { member: 'signature', publicKey })
  const altered = { ...statement, origin: 'another' }
  await assert.rejects(verifyDetached(altered, { member: 'signature', publicKey }))
})

test('tiles hold the tree of the checkpoint, 64 bytes an entry, and nothing beyond it', async () => {
  const note = (await seats.get('/log/checkpoint')).text
  const { size, root } = await openCheckpoint(note, [await logKey()])
  const fetchTile = async (path: string) => {
    const token = await seats.token()
    const answer = await fetch(`${world.url}/log/${path}`, { headers: { authorization: `Bearer ${token}` } })
    return { status: answer.status, bytes: new Uint8Array(await answer.arrayBuffer()) }
  }
  const computed = await rootFromTiles(size, async (name) => (await fetchTile(tilePath(name))).bytes)
  assert.deepEqual(Buffer.from(computed), Buffer.from(root))
  const width = size % 256
  const bundle = await fetchTile(tilePath({ level: 'entries', index: 0, width }))
  assert.deepEqual(
    decodeBundle(bundle.bytes, width).map(({ length }) => length),
    Array.from({ length: width }, () => 64),
  )
  for (const path of [`tile/0/000`, `tile/0/000.p/255`, 'tile/0/0', 'tile/9/000', 'tile/entries/001'])
    assert.equal((await fetchTile(path)).status, 404, path)
})

test('two checkpoints are consistent', async () => {
  const key = await logKey()
  const before = await openCheckpoint((await seats.get('/log/checkpoint')).text, [key])
  const { metadata } = await sendPackage(seats, cars)
  await proved(seats, `/log/records?package_id=${metadata.package_id}`, 'records')
  const answer = (await seats.get(`/log/consistency?from=${before.size}`)).body as {
    checkpoint: string
    proof: string[]
  }
  const now = await openCheckpoint(answer.checkpoint, [key])
  assert.ok(now.size > before.size)
  verifyConsistency({
    oldSize: before.size,
    oldRoot: before.root,
    newSize: now.size,
    newRoot: now.root,
    proof: answer.proof.map((hash) => Buffer.from(hash, 'base64')),
  })
  assertProblem(await seats.get('/log/consistency?from=1000000'), 'validation_failed')
})

test('records and key events come in pages, and a cursor is of one caller and one list', async () => {
  const { metadata } = await sendPackage(seats, cars)
  await sendReceipt(cars, metadata, 'received')
  await sendReceipt(cars, metadata, 'opened')
  for (const [path, member] of [
    [`/log/records?thread_id=${metadata.thread_id}`, 'records'],
    [`/log/key-events?agent_id=agent_platform`, 'events'],
  ] as const) {
    const { items } = await proved(cars, path, member)
    const seen: unknown[] = []
    let next: string | null | undefined
    for (let pages = 0; pages < 20; pages++) {
      const cursor: string = next ? `&after=${encodeURIComponent(next)}` : ''
      const { body } = await cars.get(`${path}&limit=1${cursor}`)
      assert.equal((body[member] as unknown[]).length, 1)
      seen.push(...(body[member] as { index: number }[]).map(({ index }) => index))
      next = body['next_cursor'] as string | null
      assert.equal(body['has_more'], next !== null)
      if (next === null) break
      if (member === 'records') {
        const foreign = `/log/records?package_id=${metadata.package_id}&after=${encodeURIComponent(next)}`
        assertProblem(await cars.get(foreign), 'cursor_invalid')
        assertProblem(await seats.get(`${path}&after=${encodeURIComponent(next)}`), 'cursor_invalid')
      }
    }
    assert.deepEqual(
      seen,
      items.map(({ index }) => index),
    )
  }
  assertProblem(await cars.get('/log/key-events?agent_id=agent_platform&after=x'), 'cursor_invalid')
  for (const query of ['limit=0', 'limit=-1', 'limit=x'])
    assertProblem(await cars.get(`/log/key-events?agent_id=agent_platform&${query}`), 'validation_failed')
})

test('the history of a leaf is the checkpoint before it and the first one that covers it', async () => {
  const key = await logKey()
  const { metadata } = await sendPackage(seats, cars)
  const { items } = await proved(seats, `/log/records?package_id=${metadata.package_id}`, 'records')
  await sendPackage(seats, cars)
  const later = await sendPackage(seats, cars)
  await proved(seats, `/log/records?package_id=${later.metadata.package_id}`, 'records')
  const index = items[0]?.index ?? 0
  const { checkpoint, history } = (await seats.get(`/log/history?index=${index}&index=${index}`)).body as {
    checkpoint: string
    history: { checkpoint: string; consistency: string[] }[]
  }
  const newest = await openCheckpoint(checkpoint, [key])
  const sizes: number[] = []
  for (const each of history) {
    const { size, root } = await openCheckpoint(each.checkpoint, [key])
    sizes.push(size)
    const proof = each.consistency.map((hash) => Buffer.from(hash, 'base64'))
    verifyConsistency({ oldSize: size, oldRoot: root, newSize: newest.size, newRoot: newest.root, proof })
  }
  const [earlier = Infinity, covering = -1] = sizes
  assert.equal(sizes.length, 2)
  assert.ok(earlier <= index && covering > index && covering < newest.size)
  const many = Array.from({ length: 101 }, (_, at) => `index=${at}`).join('&')
  for (const query of ['', 'index=', 'index=-1', 'index=1.5', many])
    assertProblem(await seats.get(`/log/history?${query}`), 'validation_failed')
  assert.equal(
    (await seats.get('/log/history?index=1', { headers: { authorization: undefined } })).status,
    401,
  )
})

test('every answer of the log has the schema that /openapi-extensions.json gives it', async () => {
  const { metadata } = await sendPackage(seats, cars)
  const records = `/log/records?package_id=${metadata.package_id}`
  const { items } = await proved(seats, records, 'records')
  const answered: Partial<Record<ExtensionId, string>> = {
    getLogKey: '/log/key',
    listLogRecords: records,
    listLogHeads: `/log/heads?package_id=${metadata.package_id}`,
    listLogKeyEvents: `/log/key-events?agent_id=${seats.agentId}`,
    getLogConsistency: '/log/consistency?from=1',
    getLogHistory: `/log/history?index=${items[0]?.index}`,
  }
  const described = EXTENSION_IDS.filter(
    (id) => extensions[id].area === 'log' && typeof extensions[id].success === 'object',
  )
  assert.deepEqual(Object.keys(answered).toSorted(), described.toSorted())
  for (const [id, path] of Object.entries(answered)) {
    const { status, body } = await seats.get(path)
    const { success }: Extension = extensions[id as ExtensionId]
    assert.ok(status === 200 && typeof success === 'object', path)
    assert.deepEqual(validatorOf(success)(body), [], path)
  }
  const served = (await (await fetch(`${world.url}/openapi-extensions.json`)).json()) as { paths: object }
  assert.deepEqual(
    Object.keys(served.paths),
    EXTENSION_IDS.map((id) => extensions[id].path),
  )
})

test('with O-07.transparency_public checkpoint, tiles and key need no token, and proofs still do', async () => {
  const open = { 'O-07': { ...profile['O-07'], transparency_public: true } }
  await using publicWorld = await startWorld({ profile: open, config: { role: 'all' } })
  const read = (path: string) => fetch(`${publicWorld.url}/log/${path}`)
  const owner = await publicWorld.organization('owner')
  await proved(owner, `/log/key-events?agent_id=${owner.agentId}`, 'events')
  const checkpoint = await read('checkpoint')
  assert.equal(checkpoint.status, 200)
  const key = await read('key')
  const { verifier_keys } = (await key.json()) as { verifier_keys: string[] }
  const { size } = await openCheckpoint(await checkpoint.text(), verifier_keys.map(parseVerifierKey))
  const tile = await read(tilePath({ level: 'entries', index: 0, width: size }))
  assert.deepEqual(
    [tile.status, tile.headers.get('cache-control')],
    [200, 'public, max-age=31536000, immutable'],
  )
  for (const path of [
    `records?thread_id=thread_1`,
    `key-events?agent_id=${owner.agentId}`,
    'consistency?from=1',
    'history?index=1',
  ])
    assert.equal((await read(path)).status, 401, path)
})
