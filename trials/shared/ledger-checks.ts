import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { canonicalize } from '@agent-exchange/crypto'
import { bodyHash, chainStart, entryBody, nextLink } from '@agent-exchange/log'
import type { EvidenceEntry, NotificationEnvelope } from '@agent-exchange/protocol'
import type { Organization, World } from '@agent-exchange/testkit'
import { send, type Attempt, type Ledger } from './ledger.ts'

const CONCURRENCY = 8
const MAXIMUM_PAGES = 10_000

/** Checks that every answered package exists and that every unanswered request can be retried. */
export async function checkAttempts(attempts: readonly Attempt[]): Promise<void> {
  await each(attempts, async (attempt) => {
    const { draft, from, to } = attempt
    // [API-04] Twice if the first response was lost, because `send` compares a response with the previous one.
    for (let retries = attempt.answer === undefined ? 2 : 1; retries > 0; retries--) {
      assert.ok(await send(attempt), `no response to the retry: ${attempt.failures.join(', ')}`)
    }
    const path = `/v1/packages/${draft.metadata.package_id}`
    const found = await to.get(path)
    assert.equal(found.status, 200, `answered with 202 and lost: ${path}`)
    const content = await from.get(String(found.body['ciphertext_download_url']))
    assert.equal(content.text, JSON.stringify(draft.body), 'content came back changed')
  })
}

/** Follows the notification stream of an organization from its last position. */
export interface StreamReader {
  /** Reads all new notifications; sequence numbers must be consecutive. */
  read(): Promise<void>
  /** The number of package.accepted events per package. */
  readonly accepted: ReadonlyMap<string, number>
  readonly last: () => number
}

/** [EVT-04][EVT-10] */
export function streamReader(organization: Organization, at?: string): StreamReader {
  const accepted = new Map<string, number>()
  let cursor: string | undefined
  let last = 0
  return {
    accepted,
    last: () => last,
    read: async () => {
      for (let pages = 0; pages < MAXIMUM_PAGES; pages++) {
        const query = new URLSearchParams({ limit: '250', ...(cursor !== undefined && { after: cursor }) })
        const page = await organization.get(
          `/v1/notifications?${query.toString()}`,
          at === undefined ? {} : { at },
        )
        assert.equal(page.status, 200, page.text)
        for (const { sequence, event_type, package_id } of page.body['items'] as NotificationEnvelope[]) {
          assert.equal(sequence, last + 1, `gap or duplicate in the stream of ${organization.organizationId}`)
          last = sequence
          if (event_type === 'package.accepted') accepted.set(package_id, (accepted.get(package_id) ?? 0) + 1)
        }
        cursor = page.body['next_cursor'] as string
        if (page.body['has_more'] !== true) return
      }
      throw new Error('the stream does not end')
    },
  }
}

/** Every package occurs exactly once in the streams of both parties, and no other package does. */
export function checkStreams(ledger: Ledger, readers: ReadonlyMap<Organization, StreamReader>): void {
  for (const [organization, { accepted }] of readers) {
    const own = ledger.filter(({ from, to }) => from === organization || to === organization)
    // deepEqual ignores the order of maps.
    assert.deepEqual(accepted, new Map(own.map(({ draft }) => [draft.metadata.package_id, 1])))
  }
}

/** [AUD-03] Recomputes the chain of each thread from the evidence of a party. */
export async function checkChains(attempts: readonly Attempt[]): Promise<number> {
  const threads = Map.groupBy(attempts, ({ draft }) => draft.metadata.thread_id)
  let entries = 0
  await each([...threads], async ([threadId, packages]) => {
    const reader = packages[0]?.to
    assert.ok(reader)
    const links = new Map(packages.map((attempt) => [idOf(attempt), startOf(attempt)]))
    let previous: string | null = null
    let position = 0
    for await (const entry of evidenceOf(reader, threadId)) {
      position += 1
      entries += 1
      assert.equal(entry.position, position)
      if (entry.chain) links.set(entry.chain.package_id, linkAfter(links.get(entry.chain.package_id), entry))
      else previous = hashAfter(previous, entry)
    }
    const expected = packages.length * ENTRIES_PER_PACKAGE
    assert.equal(position, expected, `entries of ${packages.length} packages in ${threadId}`)
  })
  return entries
}

const idOf = ({ draft }: Attempt) => draft.metadata.package_id

/** Link 0 of the chain of a package. */
function startOf({ draft: { metadata, receipt } }: Attempt): Uint8Array {
  const { package_id: packageId, thread_id: threadId, content_digest: contentDigest } = metadata
  return chainStart({ packageId, threadId, contentDigest, receiptSignature: receipt.signature.signature })
}

function linkAfter(previous: Uint8Array | undefined, { event, proof, chain }: EvidenceEntry): Uint8Array {
  assert.ok(previous && chain)
  assert.equal(chain.previous_hash, Buffer.from(previous).toString('hex'))
  const { position, visibility } = chain
  const hash = bodyHash(entryBody({ event, proof }))
  const link = nextLink(previous, { position, kind: proof.kind, visibility, bodyHash: hash })
  assert.equal(chain.hash, Buffer.from(link).toString('hex'))
  return link
}

/** In version 1 the chain is that of the thread. */
function hashAfter(previous: string | null, entry: EvidenceEntry): string {
  const { hash, ...proof } = entry.proof as EvidenceEntry['proof'] & Record<string, unknown>
  assert.equal(proof['previous_hash'], previous)
  const text = canonicalize({ ...entry, proof })
  const own = createHash('sha256').update(text).digest('hex')
  assert.equal(hash, own)
  return own
}

/** policy_evaluated, human_approved, package_created, package_sent. */
const ENTRIES_PER_PACKAGE = 4

async function* evidenceOf(reader: Organization, threadId: string): AsyncGenerator<EvidenceEntry> {
  let after = ''
  for (let pages = 0; pages < MAXIMUM_PAGES; pages++) {
    const page = await reader.get(`/v1/audit/threads/${threadId}${after}`)
    assert.equal(page.status, 200, page.text)
    yield* page.body['entries'] as EvidenceEntry[]
    if (page.body['has_more'] !== true) return
    after = `?after=${encodeURIComponent(String(page.body['next_cursor']))}`
  }
}

/** Checks the tables: one row of each kind per package, and counters and chain ends that match the rows. */
export async function checkTables({ sql }: World, ledger: Ledger): Promise<void> {
  const [counts] = await sql`
    select (select count(*) from package)::int as packages,
      (select count(distinct package_id) from package_content)::int as contents,
      (select count(*) from policy_receipt)::int as receipts,
      (select count(*) from idempotency_record where scope like '%createPackageTransfer%')::int as records,
      (select count(distinct package_id) from notification)::int as announced,
      (select count(*) from notification_stream as stream where last_sequence is distinct from
        (select coalesce(max(sequence), 0) from notification
         where notification.organization_id = stream.organization_id))::int as wrong_counters,
      (select count(*) from thread where audit_hash is distinct from
        (select entries::json -> -1 ->> 'hash' from audit_record
         where audit_record.thread_id = thread.thread_id and chain_position is null
         order by last_position desc limit 1))::int as wrong_thread_ends,
      (select count(*) from package where encode(chain_link, 'hex') is distinct from
        (select entries::json -> -1 ->> 'hash' from audit_record
         where audit_record.package_id = package.package_id and audit_record.chain_position is not null
         order by audit_record.chain_position desc limit 1))::int as wrong_chain_ends`
  const all = ledger.length
  assert.deepEqual(
    { ...counts },
    {
      packages: all,
      contents: all,
      receipts: all,
      records: all,
      announced: all,
      wrong_counters: 0,
      wrong_thread_ends: 0,
      wrong_chain_ends: 0,
    },
  )
}

/** Call before any retry: every answered package must be in the tables with its content. */
export async function checkAnswered({ sql }: World, attempts: readonly Attempt[]): Promise<number> {
  const answered = attempts.filter(({ answer }) => answer !== undefined)
  const ids = answered.map(({ draft }) => draft.metadata.package_id)
  const found = await sql`
    select distinct package_id from package join package_content using (package_id)
    where package_id = any(${ids})`
  assert.equal(found.length, ids.length, 'answered with 202 and lost')
  return ids.length
}

/** Runs the work for all items with limited concurrency. */
export async function each<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
  concurrency = CONCURRENCY,
): Promise<void> {
  const queue = [...items]
  const lane = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: concurrency }, lane))
}

export interface WholeLedger {
  readonly streams: number
  /** Evidence entries in unbroken chains. */
  readonly entries: number
}

/** Gapless streams with each package once, unbroken chains of evidence, and tables that agree. */
export async function checkWhole(
  world: World,
  ledger: Ledger,
  parties: readonly Organization[],
): Promise<WholeLedger> {
  const readers = new Map(parties.map((party) => [party, streamReader(party)]))
  await each([...readers.values()], (reader) => reader.read())
  checkStreams(ledger, readers)
  const entries = await checkChains(ledger)
  await checkTables(world, ledger)
  return { streams: readers.size, entries }
}
