import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  noteSigner,
  parsePolicy,
  renderCapsuleHtml,
  renderCapsuleText,
  SIGNATURE_TYPE,
  verifyCapsule,
  verifyCapsuleFile,
  type CapsuleResult,
} from '@agent-exchange/log'
import { capsuleOf, POLICY, startWorld } from '@agent-exchange/testkit'
import { relinked, wholeThread } from './evidence.fixture.ts'
import { readEvidence } from './read-evidence.ts'

const world = await startWorld({ evidenceVersion: 1 })
after(() => world[Symbol.asyncDispose]())
const thread = await wholeThread(world)
const evidence = await readEvidence(thread.bolt, { threadId: thread.threadId })
const policy = parsePolicy(POLICY)
const cosignedAt = Math.ceil(Date.parse(evidence.entries.at(-1)?.proof.recorded_at ?? '') / 1_000)
const capsule = await capsuleOf(evidence, { cosigners: 2, earlierSize: 7, cosignedAt })
const isoTime = (seconds: number) => new Date(seconds * 1_000).toISOString()
const codesOf = ({ contradictions }: CapsuleResult) => contradictions.map(({ code }) => code)

test('[AUD-01][AUD-03] a capsule is witnessed, with the index and the time of each fact', async () => {
  const result = await verifyCapsule(JSON.parse(JSON.stringify(capsule)), { policy, require: 'witnessed' })
  assert.deepEqual(result.contradictions, [])
  assert.deepEqual([result.level, result.outcome, result.exitCode], ['witnessed', 'meets', 0])
  assert.match(
    result.sentence,
    /^This capsule proves that all \d+ recorded events .* 2 of 3 witnesses .* by \d{4}-/u,
  )
  assert.deepEqual(
    [result.checkpoint?.isPinned, result.checkpoint?.cosigned, result.checkpoint?.of],
    [true, 2, 3],
  )
  const late = result.proved.filter(({ index = 0 }) => index >= 7)
  assert.ok(late.length > 0)
  for (const { after: from, before } of late)
    assert.deepEqual([from, before], [isoTime(cosignedAt - 1_000), isoTime(cosignedAt + 1)])
  const signed = result.proved.filter(({ keyId, position }) => keyId !== undefined && position !== undefined)
  assert.ok(signed.some(({ what }) => what === 'The sender signed the revocation'))
  assert.ok(signed.every(({ index }) => index !== undefined))
  assert.equal(result.packages.length, 3)
  assert.match(result.packages[0]?.sentence ?? '', /^agent_acme\S* of org_acme\S* sent package /u)
  assert.ok(result.unproved.some(({ what }) => what === 'whether later events of the thread exist'))
  assert.ok(!result.unproved.some(({ what }) => what.includes('rewrote the chain')))
})

test('the level follows from the policy, and exit codes from what is required', async () => {
  const unsigned = await capsuleOf(evidence)
  const stranger = await noteSigner(
    'exchange.example/log',
    SIGNATURE_TYPE.ed25519,
    new Uint8Array(32).fill(9),
  )
  const foreign = await capsuleOf(evidence, { signer: stranger, cosigners: 3 })
  const cases = [
    [capsule, { policy }, 'witnessed', 0],
    [capsule, { policy, require: 'witnessed' }, 'witnessed', 0],
    [unsigned, { policy }, 'log-signed', 0],
    [unsigned, { policy, require: 'witnessed' }, 'log-signed', 3],
    [capsule, {}, 'unpinned', 3],
    [capsule, { require: 'unpinned' }, 'unpinned', 0],
    // Somebody else's log, with its own key and all the witnesses: never more than unpinned.
    [foreign, { policy }, 'unpinned', 3],
    [evidence, { policy }, 'exchange-word', 3],
    [evidence, { policy, require: 'unpinned' }, 'exchange-word', 3],
  ] as const
  for (const [value, options, level, exitCode] of cases) {
    const result = await verifyCapsule(value, options)
    assert.deepEqual([result.level, result.exitCode, codesOf(result)], [level, exitCode, []])
  }
  const { fingerprints, unproved } = await verifyCapsule(capsule)
  assert.equal(fingerprints[0]?.of, 'log exchange.example/log')
  assert.ok(unproved.some(({ why }) => why.startsWith('No policy was given')))
})

test('one witness of two that are needed is not enough', async () => {
  const result = await verifyCapsule(await capsuleOf(evidence, { cosigners: 1 }), { policy })
  assert.equal(result.level, 'log-signed')
  assert.ok(result.unproved.some(({ why }) => why.startsWith('1 of 3 witnesses cosigned')))
})

test('what is no capsule is unreadable', async () => {
  const wrong = [
    null,
    3,
    'x',
    [],
    {},
    { format: 'aex-evidence/3' },
    { ...capsule, added: 1 },
    { ...capsule, log: {} },
  ]
  for (const value of [...wrong, { ...evidence, entries: 'x' }]) {
    const result = await verifyCapsule(value, { policy })
    assert.deepEqual([result.outcome, result.exitCode, result.level], ['unreadable', 2, undefined])
    assert.match(renderCapsuleText(result), /^This file is not a capsule that can be read: /u)
  }
  const bytes = (text: string) => new TextEncoder().encode(text)
  for (const text of ['', '{', '{"format":"aex-evidence/2","format":"aex-evidence/2"}', '['.repeat(100_000)])
    assert.equal((await verifyCapsuleFile(bytes(text), { policy })).exitCode, 2)
  assert.equal((await verifyCapsuleFile(bytes(JSON.stringify(capsule)), { policy })).exitCode, 0)
})

test('[AUD-03] no altered member of the log part keeps the level', async () => {
  const { records, key_events: events } = capsule.log
  const altered = [
    ...records.map((_, at) => ({ records: records.filter((__, index) => index !== at) })),
    ...events.map((_, at) => ({ key_events: events.filter((__, index) => index !== at) })),
    { records: [] },
    { key_events: [] },
  ]
  for (const change of altered) {
    const result = await verifyCapsule({ ...capsule, log: { ...capsule.log, ...change } }, { policy })
    assert.notEqual(result.exitCode, 0, JSON.stringify(result.sentence))
  }
})

/** What an operator might do, and by what it is found. */
const [firstEntry] = evidence.entries
const rewritten = await relinked({
  ...evidence,
  entries: evidence.entries.map((entry) =>
    entry === firstEntry
      ? { ...entry, proof: { ...entry.proof, recorded_at: '2020-01-01T00:00:00.000Z' } }
      : entry,
  ),
})

test('[AUD-03] a chain that was rewritten after it was logged is found', async () => {
  const result = await verifyCapsule({ ...capsule, ...rewritten, format: capsule.format }, { policy })
  assert.ok(codesOf(result).includes('inclusion_root'))
  assert.match(result.sentence, /^This capsule contradicts itself and must not be relied on: /u)
})

test('[AUD-03] an entry that was dropped is found', async () => {
  const last = evidence.entries.at(-1)
  const dropped = {
    ...capsule,
    entries: capsule.entries.slice(0, -1),
    packages: capsule.packages.map((each) => ({
      ...each,
      positions: each.positions.filter((position) => position !== last?.position),
    })),
  }
  assert.ok(codesOf(await verifyCapsule(dropped, { policy })).includes('record_entries_missing'))
})

test('[AUD-03] records that were logged in another order are found', async () => {
  const swapped = await capsuleOf(evidence, {
    order: (kinds) => {
      const [first, second] = kinds.flatMap((kind, index) => (kind === 'record' ? [index] : []))
      return kinds.map((_, index) =>
        index === first ? (second ?? 0) : index === second ? (first ?? 0) : index,
      )
    },
  })
  assert.deepEqual(codesOf(await verifyCapsule(swapped, { policy })), ['record_order'])
})

test('[ID-05] a key that entered the log after what it signed is found', async () => {
  const backdated = await capsuleOf(evidence, {
    order: (kinds) => {
      const order = kinds.map((_, index) => index)
      return [
        ...order.filter((at) => kinds[at] !== 'registered'),
        ...order.filter((at) => kinds[at] === 'registered'),
      ]
    },
  })
  const codes = new Set(codesOf(await verifyCapsule(backdated, { policy })))
  assert.ok(codes.has('key_logged_after_use'))
})

test('[ID-04][ID-05] a revocation that the log holds and the evidence hides is found', async () => {
  const keys = capsule.keys.map((record) => {
    const { invalid_from: _, revoked_at: __, ...key } = record.key
    const events = record.events?.filter(({ kind }) => kind !== 'revoked')
    return { ...record, key: { ...key, status: 'retiring' as const }, ...(events && { events }) }
  })
  assert.ok(codesOf(await verifyCapsule({ ...capsule, keys }, { policy })).includes('key_event_hidden'))
})

test('[AUD-03] a replaced checkpoint, another leaf and a second history are found', async () => {
  const other = await capsuleOf(rewritten, { cosigners: 2, earlierSize: 7 })
  const replaced = { ...capsule, log: { ...capsule.log, checkpoint: other.log.checkpoint } }
  assert.ok(codesOf(await verifyCapsule(replaced, { policy })).includes('checkpoint_differs'))
  const [first, second] = capsule.log.records
  const borrowed = { ...first, proof: second?.proof }
  const withOther = {
    ...capsule,
    log: { ...capsule.log, records: [borrowed, ...capsule.log.records.slice(1)] },
  }
  assert.ok(codesOf(await verifyCapsule(withOther, { policy })).includes('inclusion_root'))
  const fork = await capsuleOf(rewritten, { cosigners: 2, earlierSize: 15 })
  const forked = await capsuleOf(evidence, { cosigners: 2, earlierSize: 15 })
  const [mine, theirs] = [forked.log.history?.[0], fork.log.history?.[0]]
  const history = [{ consistency: mine?.consistency, checkpoint: theirs?.checkpoint }]
  const result = await verifyCapsule({ ...forked, log: { ...forked.log, history } }, { policy })
  assert.deepEqual(codesOf(result), ['consistency_old_root'])
  assert.match(result.sentence, /the log was rewritten/u)
})

test('[PKG-08] a receipt that was forged is found although the log holds it', async () => {
  const forged = await relinked({
    ...evidence,
    entries: evidence.entries.map((entry) =>
      entry.proof.kind === 'receipt_opened'
        ? { ...entry, proof: { ...entry.proof, receipt_id: 'receipt_forged' } }
        : entry,
    ),
  })
  assert.ok(
    codesOf(await verifyCapsule(await capsuleOf(forged, { cosigners: 2 }), { policy })).includes(
      'evidence_broken',
    ),
  )
})

test('the text begins with the sentence, and nobody can write into report or terminal', async () => {
  const result = await verifyCapsule(capsule, { policy })
  assert.equal(renderCapsuleText(result).split('\n')[0], result.sentence)
  const attack = '</td><script>alert(1)</script>\u001b[2J\u202e" onload="x'
  const hostile = {
    ...result,
    threadId: attack,
    sentence: attack,
    fingerprints: [{ of: attack, value: attack }],
  }
  const text = renderCapsuleText(hostile)
  assert.ok(!text.includes('\u001b') && !text.includes('\u202e'))
  const page = renderCapsuleHtml(hostile, { verifiedAt: '2026-01-01T00:00:00.000Z', file: attack })
  assert.ok(!page.includes('<script') && !page.includes('\u001b') && !page.includes('onload="x'))
  assert.match(page, /content="default-src 'none'; style-src 'unsafe-inline'/u)
})

test('the report names parties, times, packages, keys, checks and assumptions, and loads nothing', async () => {
  const page = renderCapsuleHtml(await verifyCapsule(capsule, { policy }), {
    verifiedAt: '2026-01-01T00:00:00.000Z',
    file: 'capsule.json',
  })
  for (const title of [
    'Parties',
    'What happened',
    'Proved',
    'Keys and their history',
    'Every check',
    'Assumptions',
  ])
    assert.ok(page.includes(`<h2>${title}</h2>`), title)
  assert.ok(!/<(?:script|link|img|iframe)|https?:\/\//u.test(page))
})

/** Check and result of each row of the table "Every check". */
function checksIn(page: string): Map<string, string> {
  const [, table = ''] = page.split('<h2>Every check</h2>')
  const rows = table.split('</table>')[0]?.split('</tr>') ?? []
  return new Map(
    rows.flatMap((row): [string, string][] => {
      const cells = [...row.matchAll(/<td>([^<]*)<\/td>/gu)].map(([, text = '']) => text.trim())
      return cells.length === 5 ? [[cells[0] ?? '', cells[1] ?? '']] : []
    }),
  )
}

test('[AUD-03] the report lists every check of evidence and log, with its result', async () => {
  const about = { verifiedAt: '2026-01-01T00:00:00.000Z', file: 'capsule.json' }
  const result = await verifyCapsule(capsule, { policy })
  const checks = checksIn(renderCapsuleHtml(result, about))
  const { records, key_events: events } = capsule.log
  const expected = [
    'each entry names the one before',
    'the platform signed its acceptance',
    'The log key of the capsule signed the checkpoint',
    'A log key of the policy signed the checkpoint',
    'Witnesses met the quorum of the policy',
    'An earlier checkpoint leads to this one',
    ...records.map(({ first_position: first, last_position: end }) =>
      first === end ? `Entry ${first} is in the log` : `Entries ${first} to ${end} are in the log`,
    ),
    ...events.map(({ number, agent_id }) => `Key event ${number} of ${agent_id} is in the log`),
    ...evidence.keys.map(
      ({ key, agent_id }) => `Key ${key.key_id} of ${agent_id} of the evidence is the one in the log`,
    ),
  ]
  assert.deepEqual(
    expected.filter((what) => checks.get(what) !== 'holds'),
    [],
  )
  const orders = [...checks].filter(([what]) => /^Key \S+ of \S+ was logged before entry \d+/u.test(what))
  assert.ok(orders.length >= evidence.packages.length && orders.every(([, found]) => found === 'holds'))

  const [first, ...others] = records
  const swapped = { ...capsule, log: { ...capsule.log, records: [{ ...first, proof: others[0]?.proof }] } }
  const broken = checksIn(renderCapsuleHtml(await verifyCapsule(swapped, { policy }), about))
  const failed = [...broken].filter(([, found]) => found === 'does not hold').map(([what]) => what)
  assert.match(failed.join(), /^The log does not hold the record of entry 1 as the capsule shows it/u)
  assert.ok([...broken].some(([what, found]) => found === 'not proved' && what.startsWith('whether ')))
})
