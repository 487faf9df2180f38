import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import {
  cosignNote,
  noteSigner,
  openCheckpoint,
  parseCheckpoint,
  parseNote,
  parseVerifierKey,
  parseWitnessRequest,
  SIGNATURE_TYPE,
  verifyConsistency,
  type PolicyWitness,
} from '@agent-exchange/log'
import { organizations, sendPackage, startWorld } from '@agent-exchange/testkit'
import { publishedStatus, QUICK_LOG, statusWhen } from './quick-log.fixture.ts'

/** C2SP tlog-witness, with its memory open to the test. */
async function startWitness() {
  const signer = await noteSigner('witness.example/w1', SIGNATURE_TYPE.cosignature, randomBytes(32))
  const memory = {
    size: 0,
    root: undefined as Uint8Array | undefined,
    requests: 0,
    /** What it answers instead. */
    instead: undefined as { status: number; body: string } | undefined,
  }
  const server: Server = createServer((request, response) => {
    void (async () => {
      const parts: Buffer[] = []
      for await (const part of request) parts.push(part as Buffer)
      memory.requests++
      if (memory.instead) return response.writeHead(memory.instead.status).end(memory.instead.body)
      const { oldSize, proof, checkpoint } = parseWitnessRequest(Buffer.concat(parts).toString())
      const { size, root } = parseCheckpoint(parseNote(checkpoint).text)
      if (oldSize !== memory.size) return response.writeHead(409).end(`${memory.size}\n`)
      try {
        if (memory.root)
          verifyConsistency({ oldSize, oldRoot: memory.root, newSize: size, newRoot: root, proof })
      } catch {
        return response.writeHead(422).end()
      }
      Object.assign(memory, { size, root })
      return response.end(`${await cosignNote(checkpoint, signer, Math.floor(Date.now() / 1_000))}\n`)
    })()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const witness: PolicyWitness = { kind: 'witness', name: 'w1', key: signer.key, url }
  return {
    witness,
    memory,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

test('a witness cosigns, also one that knows another size; one that is ahead stops the signing', async () => {
  await using started = await startWitness()
  const { witness, memory } = started
  await using world = await startWorld({ profile: QUICK_LOG, config: { role: 'all', witnesses: [witness] } })
  const [seats, cars] = await organizations(world, 'seats', 'cars')
  await sendPackage(seats, cars)
  const { size } = await publishedStatus(world)
  const keys = (await seats.get('/log/key')).body as { verifier_keys: string[]; witnesses: string[] }
  const known = [...keys.verifier_keys, ...keys.witnesses].map(parseVerifierKey)
  const { signatures } = await openCheckpoint((await seats.get('/log/checkpoint')).text, known)
  assert.equal(signatures.length, 2)
  assert.equal(memory.size, size)

  // The exchange forgot what the witness has seen: it asks again from the size in the answer.
  await world.sql`update log_witness set size = 1`
  await sendPackage(seats, cars)
  const grown = await publishedStatus(world, (status) => Number(status['size']) > Number(size))
  assert.equal(memory.size, grown['size'])

  memory.size += 100
  await sendPackage(seats, cars)
  const refusing = await statusWhen(world, ({ state }) => state === 'refusing')
  assert.deepEqual((refusing['refusal'] as { reason: string; witness: string }).reason, 'behind_witness')
  assert.equal(refusing['published_size'], grown['size'])
  assert.match(String(refusing['what_to_do']), /aex log recover/u)
})

type Memory = Awaited<ReturnType<typeof startWitness>>['memory']

for (const [name, change, reason] of [
  ['has another tree', (memory) => (memory.root = randomBytes(32)), 'fork_of_witness'],
  [
    'knows a larger size',
    (memory) => (memory.instead = { status: 409, body: '1000000\n' }),
    'behind_witness',
  ],
] as [string, (memory: Memory) => void, string][])
  test(`[AUD-03] a witness that ${name} stops the signing, and nothing is published`, async () => {
    await using started = await startWitness()
    const { witness, memory } = started
    await using world = await startWorld({
      profile: QUICK_LOG,
      config: { role: 'all', witnesses: [witness] },
    })
    const [seats, cars] = await organizations(world, 'seats', 'cars')
    const { size } = await publishedStatus(world)
    const { root } = memory
    change(memory)
    await sendPackage(seats, cars)
    const refusing = await statusWhen(world, ({ state }) => state === 'refusing')
    assert.equal((refusing['refusal'] as { reason: string }).reason, reason)
    assert.equal(refusing['published_size'], size)
    const metrics = await (await fetch(`${world.operatorUrl}/metrics`)).text()
    assert.match(metrics, /^aex_log_refusing 1$/mu)
    assert.match(metrics, new RegExp(`^aex_log_published_size ${String(size)}$`, 'mu'))
    // The witness is corrected, as after its own restore: the log continues.
    Object.assign(memory, { root, instead: undefined })
    await publishedStatus(world, (status) => Number(status['published_size']) > Number(size))
  })

test('[AUD-03] an error page in place of an answer does not stop the log', async () => {
  await using started = await startWitness()
  const { witness, memory } = started
  await using world = await startWorld({ profile: QUICK_LOG, config: { role: 'all', witnesses: [witness] } })
  const [seats, cars] = await organizations(world, 'seats', 'cars')
  let { size } = await publishedStatus(world)
  for (const instead of [
    { status: 422, body: '' },
    { status: 409, body: '' },
    { status: 409, body: 'no\n' },
  ]) {
    memory.instead = instead
    await sendPackage(seats, cars)
    const before = Number(size)
    ;({ size } = await publishedStatus(world, (status) => Number(status['published_size']) > before))
  }
  memory.instead = undefined
  await sendPackage(seats, cars)
  await publishedStatus(world, (status) => Number(status['published_size']) > Number(size))
  assert.ok(memory.size > Number(size), 'the witness cosigns again')
})

test('[AUD-03] a database without any checkpoint asks the witnesses before it signs its first one', async () => {
  await using started = await startWitness()
  const { witness, memory } = started
  memory.size = 50
  await using world = await startWorld({ profile: QUICK_LOG, config: { role: 'all', witnesses: [witness] } })
  const refusing = await statusWhen(world, ({ state }) => state === 'refusing')
  assert.equal((refusing['refusal'] as { reason: string }).reason, 'behind_witness')
  assert.equal((await world.sql`select from log_checkpoint`).length, 0)
})

test('an unreachable witness keeps nothing back: the checkpoint is published without it', async () => {
  await using started = await startWitness()
  const { witness, memory } = started
  memory.instead = { status: 503, body: '' }
  await using world = await startWorld({ profile: QUICK_LOG, config: { role: 'all', witnesses: [witness] } })
  const [seats, cars] = await organizations(world, 'seats', 'cars')
  await sendPackage(seats, cars)
  const { witnesses } = (await publishedStatus(world)) as { witnesses: { outcome: string }[] }
  assert.deepEqual(
    witnesses.map(({ outcome }) => outcome),
    ['failed: status_503'],
  )
})
