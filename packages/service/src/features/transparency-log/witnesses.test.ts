import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
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
import { sendPackage, startWorld, type World } from '@agent-exchange/testkit'

const profile = {
  'O-07': { transparency_checkpoint_milliseconds: 100, transparency_sequence_milliseconds: 20 },
}

/** C2SP tlog-witness, with its memory open to the test. */
async function startWitness() {
  const signer = await noteSigner('witness.example/w1', SIGNATURE_TYPE.cosignature, randomBytes(32))
  const memory = { size: 0, root: undefined as Uint8Array | undefined, requests: 0 }
  const server: Server = createServer((request, response) => {
    void (async () => {
      const parts: Buffer[] = []
      for await (const part of request) parts.push(part as Buffer)
      memory.requests++
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
      return response.end(`${await cosignNote(checkpoint, signer, 1_800_000_000)}\n`)
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

async function statusWhen(world: World, isThere: (status: Record<string, unknown>) => boolean) {
  for (let tries = 0; tries < 300; tries++) {
    const { body } = await world.operate('GET', '/transparency-log')
    if (isThere(body)) return body
    await sleep(50)
  }
  throw new Error('the log did not reach the expected state')
}

test('a witness cosigns, also one that knows another size; one that is ahead stops the signing', async () => {
  await using started = await startWitness()
  const { witness, memory } = started
  await using world = await startWorld({ profile, config: { role: 'all', witnesses: [witness] } })
  const [seats, cars] = [await world.organization('seats'), await world.organization('cars')]
  await sendPackage(seats, cars)
  const isPublished = (status: Record<string, unknown>) =>
    status['pending_leaves'] === 0 && status['published_size'] === status['size']
  const { size } = await statusWhen(world, isPublished)
  const keys = (await seats.get('/log/key')).body as { verifier_keys: string[]; witnesses: string[] }
  const known = [...keys.verifier_keys, ...keys.witnesses].map(parseVerifierKey)
  const { signatures } = await openCheckpoint((await seats.get('/log/checkpoint')).text, known)
  assert.equal(signatures.length, 2)
  assert.equal(memory.size, size)

  // The exchange forgot what the witness has seen: it asks again from the size in the answer.
  await world.sql`update log_witness set size = 1`
  await sendPackage(seats, cars)
  const grown = await statusWhen(
    world,
    (status) => isPublished(status) && Number(status['size']) > Number(size),
  )
  assert.equal(memory.size, grown['size'])

  memory.size += 100
  await sendPackage(seats, cars)
  const refusing = await statusWhen(world, ({ state }) => state === 'refusing')
  assert.deepEqual((refusing['refusal'] as { reason: string; witness: string }).reason, 'behind_witness')
  assert.equal(refusing['published_size'], grown['size'])
  assert.match(String(refusing['what_to_do']), /aex log recover/u)
})
