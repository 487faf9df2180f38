import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  bodyHash,
  chainRecordLabel,
  chainStart,
  entryBody,
  nextLink,
  type CapsulePackage,
  type CapsuleV3,
} from '@agent-exchange/log'
import type { EvidenceEntry, HiddenEvidenceEntry, PackageEvidence } from '@agent-exchange/protocol'
import { createContext } from '../create-context.ts'
import { wholeThread } from '../evidence/evidence.fixture.ts'
import { changed, startProxiedWorld, type Passed, type Reply } from '../meddling-proxy.fixture.ts'
import { createMemoryLogState } from '../log-state.ts'
import { monitorLog } from './monitor-log.ts'
import type { MonitorState } from './monitor-state.ts'
import { readCapsule } from '../evidence/read-capsule.ts'

const profile = {
  'O-07': { transparency_checkpoint_milliseconds: 100, transparency_sequence_milliseconds: 20 },
}
const { world, proxy, ...proxied } = await startProxiedWorld({
  profile,
  config: { role: 'all' },
  evidenceVersion: 2,
})
after(() => proxied[Symbol.asyncDispose]())
const { bolt, threadId } = await wholeThread({ ...world, url: proxy.url })
const { capsule } = await readCapsule(bolt, { threadId })
const packages = (capsule as CapsuleV3).packages
const [first, , revoked] = packages as [CapsulePackage, CapsulePackage, CapsulePackage]

beforeEach(() => {
  proxy.before = () => undefined
  proxy.after = (_, reply) => reply
})

const nothing: MonitorState = { threads: [threadId], found: [] }

async function scan(state = nothing) {
  const context = createContext({ ...bolt.options, log: createMemoryLogState() })
  const result = await monitorLog(context, state)
  assert.ok(result)
  return { ...result, kinds: result.findings.map(({ kind }) => kind) }
}

/** Scans until the log holds what was appended to it. */
async function scanUntilFound(state = nothing) {
  for (let tries = 0; tries < 100; tries++) {
    const result = await scan(state)
    if (result.findings.length > 0) return result
    await sleep(50)
  }
  throw new Error('the monitor found nothing')
}

let batches = 0
/** The operator appends a leaf with the label of a record. */
async function appendLeaf(
  { metadata, policy_receipt }: CapsulePackage,
  firstPosition: number,
): Promise<void> {
  const label = chainRecordLabel({
    packageId: metadata.package_id,
    contentDigest: metadata.content_digest,
    receiptSignature: policy_receipt.signature.signature,
    firstPosition,
  })
  batches++
  await world.sql`insert into log_pending (batch_id, secret, leaves)
    values (${Buffer.alloc(16, batches)}, ${Buffer.alloc(32, 1)}, ${Buffer.concat([label, Buffer.alloc(32, batches)])})`
}

type Shown = EvidenceEntry | HiddenEvidenceEntry

/** Changes what the exchange shows of a package: its evidence, and its records in the log. */
function cheat(
  { metadata: { package_id } }: CapsulePackage,
  {
    entries,
    records = (all) => all,
  }: {
    readonly entries: (all: Shown[]) => Shown[]
    readonly records?: (all: { chain: { first_position: number } }[]) => object[]
  },
): void {
  proxy.after = ({ path }: Passed, reply: Reply) => {
    if (path.startsWith(`/v1/audit/packages/${package_id}`))
      return changed(reply, (body) => {
        const page = body as unknown as PackageEvidence
        const shown = entries([...page.entries, ...(page.hidden_entries ?? [])])
        return {
          ...page,
          entries: shown.filter((entry) => 'proof' in entry),
          hidden_entries: shown.filter((entry) => !('proof' in entry)),
        }
      })
    if (path.startsWith('/log/records') && path.includes(package_id))
      return changed(reply, (body) => ({ ...body, records: records(body['records'] as never) }))
    return reply
  }
}

/** The same entries with right hashes. */
function relinked(
  { metadata, policy_receipt }: CapsulePackage,
  entries: readonly EvidenceEntry[],
): EvidenceEntry[] {
  let link = chainStart({
    packageId: metadata.package_id,
    threadId,
    contentDigest: metadata.content_digest,
    receiptSignature: policy_receipt.signature.signature,
  })
  return entries.map((entry, index) => {
    const { event, proof, chain } = entry
    const previous_hash = Buffer.from(link).toString('hex')
    const { kind } = proof
    const hash = bodyHash(entryBody({ event, proof }))
    link = nextLink(link, { position: index + 1, kind, visibility: 'both', bodyHash: hash })
    return {
      ...entry,
      chain: { ...chain, previous_hash, hash: Buffer.from(link).toString('hex') },
    } as EvidenceEntry
  })
}

test('[AUD-03] an honest exchange has no findings, and a second run scans only what is new', async () => {
  const { kinds, state, scanned } = await scan()
  assert.deepEqual(kinds, [])
  assert.ok(scanned > 0)
  const again = await scan(state)
  assert.deepEqual([again.kinds, again.scanned, again.lookBack], [[], 0, 'none'])
})

test('[AUD-03] a record that was rewritten with right hashes is found, also long after it was scanned', async () => {
  const { state } = await scan()
  cheat(first, {
    entries: (all) =>
      relinked(
        first,
        (all as EvidenceEntry[]).map((entry) => ({
          ...entry,
          proof: { ...entry.proof, recorded_at: '2020-01-01T00:00:00.000Z' },
        })),
      ),
  })
  const { findings, scanned } = await scan(state)
  assert.equal(scanned, 0)
  assert.equal(findings.length, first.records.length)
  for (const { kind, sentence } of findings) {
    assert.equal(kind, 'altered')
    assert.match(
      sentence,
      /shows the record of pkg_\S+ from its entry \d+ on otherwise than leaf \d+ holds it/u,
    )
  }
})

test('[AUD-03] an entry that is taken out of the middle is found', async () => {
  const position = first.entries.length - 1
  cheat(first, {
    entries: (all) => all.filter(({ chain }) => chain?.position !== position),
    records: (all) => all.filter(({ chain }) => chain.first_position !== position),
  })
  const { findings } = await scan()
  const [gap] = findings
  assert.equal(gap?.kind, 'entry_gap')
  assert.match(gap.sentence, new RegExp(`without entry ${position}\\.`, 'u'))
  assert.ok(findings.some(({ kind }) => kind === 'hidden'))
})

test('[AUD-03] a revocation that is taken from the end is found', async () => {
  const { state } = await scan()
  const position = revoked.entries.length
  cheat(revoked, {
    entries: (all) => all.filter(({ chain }) => chain?.position !== position),
    records: (all) => all.filter(({ chain }) => chain.first_position !== position),
  })
  for (const each of [nothing, state]) {
    const { findings } = await scan(each)
    assert.deepEqual(
      findings.map(({ kind }) => kind),
      ['hidden'],
    )
    assert.match(findings[0]?.sentence ?? '', /does not show this event: it hides it/u)
  }
})

test('[AUD-03] a receipt behind a placeholder is found', async () => {
  const position = first.entries.length - 1
  cheat(first, {
    entries: (all) =>
      all.map((entry): Shown => {
        if (!('proof' in entry) || entry.chain?.position !== position) return entry
        const body_hash = Buffer.from(
          bodyHash(entryBody({ event: entry.event, proof: entry.proof })),
        ).toString('hex')
        const chain = { ...entry.chain, visibility: 'one' as const, body_hash }
        return { position: entry.position, kind: entry.proof.kind, chain }
      }),
  })
  const { findings } = await scan()
  assert.match(
    findings[0]?.sentence ?? '',
    /^The exchange hides entry \d+ of pkg_\S+, a \w+, which both parties may see/u,
  )
  assert.equal(findings[0]?.kind, 'concealed')
})

test('[AUD-03] a hidden record after the last entry is found, up to 64 positions ahead', async () => {
  await appendLeaf(first, first.entries.length + 64)
  const { findings } = await scanUntilFound()
  assert.match(
    findings[0]?.sentence ?? '',
    /from its entry \d+ on at leaf \d+, and the exchange does not show/u,
  )
})

test('[AUD-03] a second history of a record is found', async () => {
  await appendLeaf(revoked, 1)
  for (let tries = 0; tries < 100; tries++) {
    const { findings } = await scan()
    const twice = findings.find(({ kind }) => kind === 'duplicate')
    if (twice) return
    await sleep(50)
  }
  throw new Error('the monitor found no second history')
})
