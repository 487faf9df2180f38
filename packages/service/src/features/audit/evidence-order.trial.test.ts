import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { bodyHash, entryBody, nextLink } from '@agent-exchange/log'
import type { EvidenceEntry, PackageResource } from '@agent-exchange/protocol'
import {
  draftPackage,
  organizations,
  receiptBody,
  runningClock,
  sendPackage,
  startWorld,
  submitPackage,
  type Organization,
} from '@agent-exchange/testkit'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
// A second process of the same exchange with a slow clock.
const late = runningClock()
late.advance(-4)
const other = await startWorld({ beside: world, clock: late })
after(() => other[Symbol.asyncDispose]())
const [seats, cars] = await organizations(world, 'seats', 'cars')

type Entry = EvidenceEntry & { readonly proof: Readonly<Record<string, unknown>> }

async function entriesOf(by: Organization, threadId: string): Promise<Entry[]> {
  const { status, text, body } = await by.get(`/v1/audit/threads/${threadId}?limit=1000`)
  assert.equal(status, 200, text)
  assert.equal(body['has_more'], false)
  return body['entries'] as Entry[]
}

/** Counts entries recorded before their predecessor, and verifies the chains of the packages. */
function backwards(entries: readonly Entry[]): number {
  const ends = new Map<string, NonNullable<Entry['chain']>>()
  let previous: Entry | undefined
  let count = 0
  for (const entry of entries) {
    const { event, proof, chain } = entry
    assert.ok(chain)
    const before = ends.get(chain.package_id)
    assert.equal(chain.position, (before?.position ?? 0) + 1)
    if (before) assert.equal(chain.previous_hash, before.hash)
    const link = nextLink(Buffer.from(chain.previous_hash, 'hex'), {
      position: chain.position,
      kind: proof.kind,
      visibility: chain.visibility,
      bodyHash: bodyHash(entryBody({ event, proof })),
    })
    assert.equal(chain.hash, Buffer.from(link).toString('hex'))
    ends.set(chain.package_id, chain)
    if (previous && proof.recorded_at < previous.proof.recorded_at) count++
    previous = entry
  }
  return count
}

const WRITERS = 12
const ROUNDS = 4

test('[AUD-01][O-43] twelve writers on one thread in two processes: the recorded time never runs backwards', async () => {
  const first = (await sendPackage(seats, cars)).metadata
  const { thread_id: threadId } = first
  const places = [world.url, other.url]
  const write = async (writer: number) => {
    const at = places[writer % 2] ?? world.url
    for (let round = 0; round < ROUNDS; round++) {
      if (writer % 3 === 0) {
        const body = await receiptBody(cars, first, 'failed', { change: { occurred_at: late.now() } })
        const answer = await cars.post(`/v1/packages/${first.package_id}/receipts`, body, { at })
        assert.equal(answer.status, 201, answer.text)
        continue
      }
      const metadata = { created_at: late.now() }
      const draft = await draftPackage(seats, cars, { threadId, metadata })
      const receipt = await seats.post('/v1/policy-receipts', draft.receipt, { at })
      assert.equal(receipt.status, 201, receipt.text)
      const answer = await submitPackage(seats, draft, { at })
      assert.equal(answer.status, 202, answer.text)
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)))
  const entries = await entriesOf(seats, threadId)
  assert.equal(entries.length, 4 + (WRITERS / 3) * ROUNDS + ((WRITERS * 2) / 3) * ROUNDS * 4)
  assert.equal(backwards(entries), 0)
  // An entry has its own acceptance time in addition to the recorded time.
  const times = entries.map(({ proof }) => [proof['accepted_at'] as string | undefined, proof.recorded_at])
  assert.ok(times.some(([accepted, recorded]) => accepted !== undefined && accepted !== recorded))
  assert.ok(times.every(([accepted, recorded]) => accepted === undefined || accepted <= String(recorded)))
})

test('[AUD-01][O-43] signed acceptance, package and response have the same acceptance time, whatever the recorded time', async () => {
  const { thread_id: threadId } = (await sendPackage(seats, cars)).metadata
  const draft = await draftPackage(seats, cars, { threadId, metadata: { created_at: late.now() } })
  assert.equal((await seats.post('/v1/policy-receipts', draft.receipt, { at: other.url })).status, 201)
  const answer = await submitPackage(seats, draft, { at: other.url })
  const entries = await entriesOf(cars, threadId)
  assert.equal(backwards(entries), 0)
  const accepted = entries.find(
    ({ proof, event }) => proof['acceptance'] && event?.target.object_id === draft.metadata.package_id,
  )?.proof as unknown as { acceptance: { accepted_at: string }; recorded_at: string }
  const read = (await cars.get(`/v1/packages/${draft.metadata.package_id}`))
    .body as unknown as PackageResource
  assert.equal(accepted.acceptance.accepted_at, answer.body['created_at'])
  assert.equal(read.created_at, accepted.acceptance.accepted_at)
  // The clock of this process is seconds slow, so the previous entry has a later recorded time.
  assert.ok(accepted.recorded_at > accepted.acceptance.accepted_at)
})

test('[AUD-01][O-43] a policy receipt is recorded in the chain with its package and states its acceptance time', async () => {
  const draft = await draftPackage(seats, cars)
  const policy = await seats.post('/v1/policy-receipts', draft.receipt)
  world.clock.advance(60)
  assert.equal((await submitPackage(seats, draft)).status, 202)
  const entries = await entriesOf(seats, draft.metadata.thread_id)
  assert.equal(backwards(entries), 0)
  for (const { proof, event } of entries.slice(0, 2)) {
    assert.equal(proof['accepted_at'], policy.body['accepted_at'])
    assert.equal(event?.occurred_at, policy.body['accepted_at'])
    assert.ok(Date.parse(proof.recorded_at) - Date.parse(event?.occurred_at ?? '') >= 60_000)
  }
})
