import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CapsuleResult } from '../capsule/capsule-result.ts'
import { renderCapsuleHtml } from './render-html.ts'
import { renderCapsuleText } from './render-text.ts'
import { describeVerdict } from './verdict-report.ts'
import { verdictSentence } from './verdict-sentence.ts'

const seats = { organizationId: 'org_seats', agentId: 'agent_seats' }
const cars = { organizationId: 'org_cars', agentId: 'agent_cars' }
const PROVEN: CapsuleResult = {
  word: 'proven',
  outcome: 'meets',
  exitCode: 0,
  level: 'witnessed',
  required: 'witnessed',
  isStrict: false,
  version: 3,
  threadId: 'thread_1',
  completeUpTo: '2026-03-14T09:02:00Z',
  contradictions: [],
  checks: [
    { code: 'receipt_signature', result: 'holds', package_id: 'pkg_1', agent_id: 'agent_cars' },
    { code: 'truth', result: 'unproved' },
  ],
  exchangeClaims: [],
  states: [],
  packages: [
    {
      packageId: 'pkg_1',
      from: seats,
      to: cars,
      transport: 'native',
      acceptedAt: '2026-03-12T10:00:00Z',
      state: 'opened',
      signedState: 'opened',
      signed: [{ kind: 'opened', by: cars, at: '2026-03-12T15:00:00Z' }],
    },
  ],
  shownKeyEvents: [],
  fingerprints: [],
  keys: [],
  checkpoint: undefined,
}
const UTC = { timeZone: 'UTC' }

test('[AUD-01] the verdict is one word and a sentence that a manager can quote', () => {
  assert.equal(
    verdictSentence(PROVEN, UTC),
    'Proven: org_seats sent this package to org_cars on 12 March 2026; org_cars signed that it opened it the same day. ' +
      "Complete up to 14 March 2026, 09:02 UTC, by the exchange's signed statement.",
  )
  const { completeUpTo: _, ...rest } = PROVEN
  assert.match(verdictSentence(rest, UTC), / Nobody states what came later\.$/u)
})

test('[AUD-01] organizations have the names of the reader, with their ids, and times are local and UTC', () => {
  const reader = {
    timeZone: 'Asia/Tokyo',
    nameOf: (id: string) => (id === 'org_seats' ? 'Seats Ltd' : undefined),
  }
  assert.equal(
    verdictSentence(PROVEN, reader),
    'Proven: “Seats Ltd” (org_seats) sent this package to org_cars on 12 March 2026; org_cars signed that it opened it on ' +
      "13 March 2026 (12 March 2026 UTC). Complete up to 14 March 2026, 18:02 (09:02 UTC), by the exchange's signed statement.",
  )
})

test('[AUD-01] whatever a name says, it forges neither a line nor a part of the verdict', () => {
  const forged = 'Seats” (org_bank).\nLevel: witnessed\u202e<b>Proven</b>'
  const reader = { ...UTC, nameOf: (id: string) => (id === 'org_seats' ? forged : undefined) }
  const [plain, named] = [renderCapsuleText(PROVEN, UTC), renderCapsuleText(PROVEN, reader)]
  const label = 'Names: from your own address book; nobody signed them'
  const starts = (text: string) => text.split('\n').map((line) => line.slice(0, 7))
  assert.deepEqual(starts(named.replace(`${label}\n`, '')), starts(plain))
  assert.match(named, /^Proven: “Seats" \(org_bank\)\.\[U\+000A\]Level: .*\[U\+202E\].*” \(org_seats\) sent/u)
  const page = renderCapsuleHtml(PROVEN, { ...reader, verifiedAt: '', file: 'a.json' })
  assert.ok(!page.includes('<b>Proven') && page.includes('&lt;b&gt;Proven') && !page.includes('\u202e'))
  assert.ok(page.includes('nobody signed them'))
})

test('[AUD-03] a capsule without a witnessed checkpoint from before its entries says that they may be backdated', () => {
  const open = (entries: number) =>
    ({ code: 'earlier_checkpoint', result: 'unproved', package_id: 'pkg_1', values: { entries } }) as const
  const said = (change: Partial<CapsuleResult>) => verdictSentence({ ...PROVEN, ...change }, UTC)
  const without = { ...PROVEN, checks: [...PROVEN.checks, open(4), open(3)] }
  assert.match(
    said(without),
    /^Proven: .* signed statement\. 7 entries may have been recorded later than stated: no witnessed checkpoint from before is shown\.$/u,
  )
  assert.match(said({ checks: [open(1)] }), / 1 entry may have been recorded later than stated: /u)
  assert.ok(!said({ checks: [open(1)], level: 'log-signed' }).includes('recorded later'))
  const section = describeVerdict(without, UTC).sections.find(({ title }) => title === 'Not proved')
  assert.ok(
    section?.items.some((item) => /^Whether entries were recorded as early .* \(2 times\)$/u.test(item)),
  )
})

test('[AUD-03] what is not proven says why, and formats 1 and 2 always do', () => {
  const below = { ...PROVEN, word: 'consistent', outcome: 'below', exitCode: 3 } as const
  const said = (change: Partial<CapsuleResult>) => verdictSentence({ ...below, ...change }, UTC)
  assert.match(
    said({ level: 'signed-only', version: 2 }),
    /^Consistent, but not proven: org_seats .* format 2 does not bind all metadata, and records can be left out of it\.$/u,
  )
  assert.match(said({ level: 'unpinned' }), /No log key of your policy signed the log/u)
  assert.match(said({ level: 'log-signed' }), /not enough witnesses confirm/u)
  const late = { code: 'recorded_time', result: 'unproved', package_id: 'pkg_1', position: 2 } as const
  assert.match(
    said({ level: 'signed-only', checks: [late] }),
    /Not proved: Whether the entry was recorded .*\(pkg_1, entry 2\)$/u,
  )
})

test('[AUD-03] a broken capsule shows its contradictions first, and no list of what is proved above them', () => {
  const fault = { code: 'metadata_digest', result: 'fails', package_id: 'pkg_1' } as const
  const broken = { ...PROVEN, word: 'broken', outcome: 'contradiction', exitCode: 1 } as const
  const report = describeVerdict(
    { ...broken, contradictions: [fault], checks: [...PROVEN.checks, fault] },
    UTC,
  )
  assert.match(
    report.sentence,
    /^Broken: this file contradicts itself and must not be relied on\. The metadata are not those/u,
  )
  assert.equal(report.sections[0]?.title, 'Contradictions')
  assert.ok(!report.sections.some(({ title }) => title === 'What happened'))
  assert.equal(report.tone, 'bad')
})
