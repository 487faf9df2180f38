import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { NotificationEnvelope } from '@agent-exchange/protocol'
import { draftPackage, startWorld, type Organization, type PackageDraft } from '@agent-exchange/testkit'

const first = await startWorld()
const second = await startWorld({ beside: first })
after(async () => {
  await second[Symbol.asyncDispose]()
  await first[Symbol.asyncDispose]()
})
const senders = await Promise.all(['s1', 's2', 's3', 's4'].map((name) => first.organization(name)))
const CREATIONS = 60

/** Follows the cursor until it has read the wanted number of notifications. */
async function follow(reader: Organization, wanted: number): Promise<NotificationEnvelope[]> {
  const seen: NotificationEnvelope[] = []
  const deadline = Date.now() + 20_000
  let query = '?limit=7'
  for (let polls = 0; seen.length < wanted && Date.now() < deadline; polls++) {
    const at = polls % 2 === 0 ? first.url : second.url
    const { body, status, text } = await reader.get(`/v1/notifications${query}`, { at })
    assert.equal(status, 200, text)
    seen.push(...(body['items'] as NotificationEnvelope[]))
    query = `?limit=7&after=${String(body['next_cursor'])}`
  }
  return seen
}

async function drafts(to: readonly Organization[]): Promise<[Organization, PackageDraft][]> {
  const made: [Organization, PackageDraft][] = []
  for (let index = 0; index < CREATIONS; index++) {
    const from = senders[index % senders.length] as Organization
    const draft = await draftPackage(from, to[index % to.length] as Organization)
    assert.equal((await from.post('/v1/policy-receipts', draft.receipt)).status, 201)
    made.push([from, draft])
  }
  return made
}

async function trial(to: readonly Organization[]): Promise<void> {
  const made = await drafts(to)
  const expected = (reader: Organization) =>
    made.filter(([, { metadata }]) => metadata.recipient_org_id === reader.organizationId)
  const reading = Promise.all(to.map((reader) => follow(reader, expected(reader).length)))
  const answers = await Promise.all(
    made.map(([from, { body }], index) =>
      from.post('/v1/packages', body, { at: index % 2 === 0 ? first.url : second.url }),
    ),
  )
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [202])
  const streams = await reading
  for (const [index, reader] of to.entries()) {
    const seen = streams[index] ?? []
    assert.deepEqual(
      seen.map(({ sequence }) => sequence),
      seen.map((_, position) => position + 1),
    )
    assert.deepEqual(
      seen.map(({ package_id }) => package_id).toSorted(),
      expected(reader)
        .map(([, { metadata }]) => metadata.package_id)
        .toSorted(),
    )
  }
}

test('[EVT-04][EVT-10] one recipient, writers in two processes, a concurrent reader: no gap, no duplicate, none missed', async () => {
  await trial([await first.organization('one')])
})

test('[EVT-04][EVT-10] twenty recipients, writers in two processes, concurrent readers: no gap, no duplicate, none missed', async () => {
  const names = Array.from({ length: 20 }, (_, index) => `many${index}`)
  await trial(await Promise.all(names.map((name) => first.organization(name))))
})

test('[EVT-04] the streams of the senders have no gaps either', async () => {
  const rows = await first.sql`
    select stream.organization_id from notification_stream as stream left join notification using (organization_id)
    group by stream.organization_id, last_sequence
    having count(sequence) <> last_sequence or min(sequence) <> 1 or max(sequence) <> last_sequence`
  assert.equal(rows.length, 0)
})
