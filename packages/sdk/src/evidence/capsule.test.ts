import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  LOWERING_CODES,
  noteSigner,
  parsePolicy,
  renderCapsuleHtml,
  renderCapsuleText,
  SIGNATURE_TYPE,
  verifyCapsule,
  verdictSentence,
  verifyCapsuleFile,
  type CapsuleResult,
  type CheckCode,
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
const loweringIn = ({ checks }: CapsuleResult) =>
  checks.flatMap(({ code, result }) => (result === 'unproved' && LOWERING_CODES.has(code) ? [code] : []))
/** What the log of a capsule proves, whatever its format binds. */
const logLevelOf = ({ checkpoint }: CapsuleResult) =>
  checkpoint?.isQuorumMet
    ? 'witnessed'
    : checkpoint?.isPinned
      ? 'log-signed'
      : checkpoint
        ? 'unpinned'
        : undefined

test('[AUD-01][AUD-03] a capsule is witnessed, with the index and the time of each fact', async () => {
  const result = await verifyCapsule(JSON.parse(JSON.stringify(capsule)), { policy, require: 'witnessed' })
  assert.deepEqual(result.contradictions, [])
  assert.deepEqual([result.level, result.outcome, result.exitCode], ['signed-only', 'below', 3])
  // The log is confirmed; the format does not bind what it shows.
  assert.deepEqual(loweringIn(result), ['format_bound'])
  assert.deepEqual(
    [result.checkpoint?.isPinned, result.checkpoint?.cosigned, result.checkpoint?.of],
    [true, 2, 3],
  )
  const late = result.checks.filter(
    ({ code, values }) => code === 'record_leaf' && Number(values?.['index']) >= 7,
  )
  assert.ok(late.length > 0)
  for (const { values } of late)
    assert.deepEqual(
      [values?.['after'], values?.['before']],
      [isoTime(cosignedAt - 1_000), isoTime(cosignedAt + 1)],
    )
  const signed = result.checks.filter(({ code }) => code === 'key_logged_before_use')
  assert.ok(signed.some(({ values }) => values?.['use'] === 'revocation_signature'))
  assert.ok(signed.every(({ values }) => values?.['index'] !== undefined))
  assert.equal(result.packages.length, 3)
  assert.match(result.packages[0]?.from.agentId ?? '', /^agent_acme/u)
  const unproved = result.checks.filter(({ result: found }) => found === 'unproved')
  const open = new Set(unproved.map(({ code }) => code))
  assert.ok(open.has('later_events') && !open.has('thread_rewritten'))
})

test('whatever the log of a capsule of format 2 proves, its level is that of a statement of the exchange', async () => {
  const unsigned = await capsuleOf(evidence)
  const stranger = await noteSigner(
    'exchange.example/log',
    SIGNATURE_TYPE.ed25519,
    new Uint8Array(32).fill(9),
  )
  const foreign = await capsuleOf(evidence, { signer: stranger, cosigners: 3 })
  const cases = [
    [capsule, { policy }, 'witnessed'],
    [unsigned, { policy }, 'log-signed'],
    [capsule, {}, 'unpinned'],
    // Somebody else's log, with its own key and all the witnesses: never more than unpinned.
    [foreign, { policy }, 'unpinned'],
    [evidence, { policy, require: 'unpinned' }, undefined],
  ] as const
  for (const [value, options, level] of cases) {
    const result = await verifyCapsule(value, options)
    assert.deepEqual([logLevelOf(result), result.level, result.word], [level, 'signed-only', 'consistent'])
    assert.deepEqual([result.exitCode, codesOf(result)], [3, []])
  }
  const { fingerprints, checks } = await verifyCapsule(capsule)
  assert.ok(fingerprints[0]?.of === 'log' && fingerprints[0].origin === 'exchange.example/log')
  assert.equal(checks.find(({ code }) => code === 'log_pinned')?.values?.fault, 'no_policy')
})

test('one witness of two that are needed is not enough', async () => {
  const result = await verifyCapsule(await capsuleOf(evidence, { cosigners: 1 }), { policy })
  assert.equal(logLevelOf(result), 'log-signed')
  const { values } = result.checks.find(({ code }) => code === 'log_quorum') ?? {}
  assert.deepEqual([values?.['cosigned'], values?.['of'], values?.fault], [1, 3, 'quorum_not_met'])
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
    assert.match(renderCapsuleText(result), /^Unreadable: The file cannot be read/u)
  }
  const bytes = (text: string) => new TextEncoder().encode(text)
  for (const text of ['', '{', '{"format":"aex-evidence/2","format":"aex-evidence/2"}', '['.repeat(100_000)])
    assert.equal((await verifyCapsuleFile(bytes(text), { policy })).exitCode, 2)
  assert.equal((await verifyCapsuleFile(bytes(JSON.stringify(capsule)), { policy })).exitCode, 3)
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
    assert.ok(result.exitCode === 1 || loweringIn(result).length > 1, JSON.stringify(change))
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
  assert.ok(codesOf(result).includes('record_leaf'))
  assert.match(verdictSentence(result), /^Broken: this file contradicts itself and must not be relied on\. /u)
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
  assert.ok(codesOf(await verifyCapsule(dropped, { policy })).includes('record_positions'))
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
  assert.ok(codes.has('key_logged_before_use'))
})

test('[ID-04][ID-05] a revocation that the log holds and the evidence hides is found', async () => {
  const keys = capsule.keys.map((record) => {
    const { invalid_from: _, revoked_at: __, ...key } = record.key
    const events = record.events?.filter(({ kind }) => kind !== 'revoked')
    return { ...record, key: { ...key, status: 'retiring' as const }, ...(events && { events }) }
  })
  assert.ok(codesOf(await verifyCapsule({ ...capsule, keys }, { policy })).includes('key_history'))
})

test('[AUD-03] a replaced checkpoint, another leaf and a second history are found', async () => {
  const other = await capsuleOf(rewritten, { cosigners: 2, earlierSize: 7 })
  const replaced = { ...capsule, log: { ...capsule.log, checkpoint: other.log.checkpoint } }
  const faults = (await verifyCapsule(replaced, { policy })).contradictions.map(({ values }) => values?.fault)
  assert.ok(faults.includes('checkpoint_differs'))
  const [first, second] = capsule.log.records
  const borrowed = { ...first, proof: second?.proof }
  const withOther = {
    ...capsule,
    log: { ...capsule.log, records: [borrowed, ...capsule.log.records.slice(1)] },
  }
  assert.ok(codesOf(await verifyCapsule(withOther, { policy })).includes('record_leaf'))
  const fork = await capsuleOf(rewritten, { cosigners: 2, earlierSize: 15 })
  const forked = await capsuleOf(evidence, { cosigners: 2, earlierSize: 15 })
  const [mine, theirs] = [forked.log.history?.[0], fork.log.history?.[0]]
  const history = [{ consistency: mine?.consistency, checkpoint: theirs?.checkpoint }]
  const result = await verifyCapsule({ ...forked, log: { ...forked.log, history } }, { policy })
  assert.deepEqual(codesOf(result), ['log_history'])
  assert.match(verdictSentence(result), /the log was rewritten/u)
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
      'receipt_signature',
    ),
  )
})

test('the text begins with the sentence, and nobody can write into report or terminal', async () => {
  const result = await verifyCapsule(capsule, { policy })
  assert.equal(renderCapsuleText(result).split('\n')[0], verdictSentence(result))
  const attack = '</td><script>alert(1)</script>\u001b[2J\u202e" onload="x'
  const hostile = {
    ...result,
    threadId: attack,
    fingerprints: [{ of: 'log', origin: attack, value: attack }],
    checks: [{ code: 'receipt_signature', result: 'holds', agent_id: attack, values: { state: attack } }],
  } as const
  const text = renderCapsuleText(hostile)
  assert.ok(!text.includes('\u001b') && !text.includes('\u202e'))
  const page = renderCapsuleHtml(hostile, { verifiedAt: '2026-01-01T00:00:00.000Z', file: attack })
  assert.ok(!page.includes('<script') && !page.includes('\u001b') && !page.includes('onload="x'))
  assert.match(page, /content="default-src 'none'; style-src 'unsafe-inline'/u)
})

test('the report names packages, keys, checks and assumptions, and loads nothing', async () => {
  const page = renderCapsuleHtml(await verifyCapsule(capsule, { policy }), {
    verifiedAt: '2026-01-01T00:00:00.000Z',
    file: 'capsule.json',
  })
  for (const title of ['What happened', 'Not proved']) assert.ok(page.includes(`<h2>${title}</h2>`), title)
  for (const title of ['Signatures that hold', 'Keys in the log', 'Every check', 'Assumptions'])
    assert.ok(page.includes(`<summary>${title} (`), title)
  assert.ok(!/<(?:script|link|img|iframe)|https?:\/\//u.test(page))
})

test('[AUD-03] the report lists every check of evidence and log, with its result', async () => {
  const about = { verifiedAt: '2026-01-01T00:00:00.000Z', file: 'capsule.json' }
  const result = await verifyCapsule(capsule, { policy })
  const page = renderCapsuleHtml(result, about)
  const [, listed = ''] = page.split('<summary>Every check')
  const codes = [...listed.matchAll(/\[([a-z_]+)/gu)].map(([, code]) => code)
  assert.deepEqual(
    codes,
    result.checks.map(({ code }) => code),
  )
  const { records, key_events: events } = capsule.log
  const held = (code: CheckCode) =>
    result.checks.filter((check) => check.code === code && check.result === 'holds')
  assert.deepEqual(
    [held('record_leaf').length, held('key_event_leaf').length],
    [records.length, events.length],
  )
  assert.equal(held('key_record').length, evidence.keys.length)
  for (const code of [
    'thread_links',
    'acceptance_signature',
    'log_checkpoint',
    'log_pinned',
    'log_quorum',
    'log_history',
  ] as const)
    assert.ok(held(code).length > 0, code)
  assert.ok(held('key_logged_before_use').length >= evidence.packages.length)

  const [first, ...others] = records
  const swapped = { ...capsule, log: { ...capsule.log, records: [{ ...first, proof: others[0]?.proof }] } }
  const broken = await verifyCapsule(swapped, { policy })
  assert.deepEqual(codesOf(broken), ['record_leaf'])
  assert.ok(loweringIn(broken).includes('record_missing'))
  // Contradictions come before anything that a reader could take for proved.
  const shown = renderCapsuleText(broken)
  assert.ok(shown.indexOf('Contradictions:') > 0)
  assert.ok(shown.indexOf('Contradictions:') < shown.indexOf('Signatures that hold:'))
})
