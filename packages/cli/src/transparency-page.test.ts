import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ROOT } from './running-exchange.fixture.ts'

type Proof = readonly [file: string, name: string]

/** A capsule of format 3, true or false, that both implementations of the verifier judge. */
const capsule = (name: string): Proof => ['interop/vectors/chain-capsule.json', `"name": "${name}"`]
const inSdk = (file: string, name: string): Proof => [`packages/sdk/src/${file}`, name]
const inService = (file: string, name: string): Proof => [
  `packages/service/src/features/transparency-log/${file}`,
  name,
]

/** Every sentence of the first screen of docs/transparency.md, and the tests that prove it. */
const PROOFS: Readonly<Record<string, readonly Proof[]>> = {
  'The exchange writes every audit event and every key event into an append-only log.': [
    inService(
      'log-http.test.ts',
      'both parties get a proof of every record, and it verifies with the library alone',
    ),
    inService('log-http.test.ts', 'key events are numbered without gaps and proved in the log'),
  ],
  'A party exports the events of a thread with their proofs as one file, a capsule.': [
    inSdk(
      'evidence/read-capsule.test.ts',
      'either party collects the chains of all packages, and their structure verifies',
    ),
  ],
  'Anybody can verify a capsule, without the exchange and without network.': [
    ['interop/vectors.test.ts', 'capsules of format 3, true and false, each with the check that fails'],
  ],
  'The sender signed the policy receipt, the platform signed the acceptance, the recipient signed each receipt, and the sender signed a revocation.':
    [
      capsule('policy-receipt-not-signed'),
      capsule('acceptance-not-signed'),
      capsule('receipt-not-signed'),
      capsule('receipt-by-the-sender'),
      capsule('revocation-not-signed'),
      capsule('revocation-by-the-recipient'),
    ],
  'A statement without its signature is a contradiction.': [
    capsule('receipt-unsigned'),
    capsule('acceptance-missing'),
    capsule('opened-without-a-receipt'),
  ],
  'A signature or the log covers every member of the file.': [
    capsule('expiry-changed'),
    capsule('recorded-time-changed'),
    capsule('key-exchanged'),
    capsule('history-changed'),
    capsule('head-later'),
  ],
  'A member that the format does not know makes the file unreadable.': [
    ['packages/log/src/capsule/capsule-v3-shape.test.ts', 'the schema of a capsule of format 3 is closed'],
    capsule('member-of-metadata-added'),
    capsule('delivery-attempts-added'),
  ],
  'The events of a package count from 1 without gaps.': [capsule('entry-cut-out'), capsule('record-cut-out')],
  'Only a notification that was delivered again may be hidden from the other party, and its place is shown.':
    [capsule('receipt-hidden'), capsule('revocation-logged-for-one'), capsule('placeholder-cut-out')],
  'The exchange signs where the events of a package end.': [
    capsule('head-later'),
    capsule('head-by-an-agent'),
    capsule('tail-cut-off'),
  ],
  'An event that it denied, and that its log held at that time, convicts it.': [
    capsule('head-denies-an-entry'),
    capsule('head-older-than-the-end'),
  ],
  'Without that statement nobody says what came later.': [
    capsule('without-heads'),
    capsule('one-head-missing'),
  ],
  'Recorded times lie within ten minutes of what witnesses saw.': [
    capsule('recorded-within-tolerance'),
    capsule('recorded-early'),
    capsule('recorded-late'),
  ],
  'Up to a day outside, the level drops to signed-only.': [
    capsule('recorded-early'),
    capsule('recorded-late'),
  ],
  'Beyond a day it is a contradiction.': [
    capsule('backdated'),
    capsule('postdated'),
    capsule('inner-entry-backdated'),
    capsule('inner-entry-postdated'),
  ],
  'A time that is too early is found only if the capsule shows a witnessed checkpoint from before.': [
    capsule('backdated'),
    capsule('backdated-without-earlier-checkpoint'),
    capsule('earlier-checkpoint-not-witnessed'),
  ],
  'Without one, the verdict says that entries may be backdated.': [
    capsule('no-history'),
    capsule('earlier-checkpoint-in-between'),
    [
      'packages/log/src/render/verdict-sentence.test.ts',
      'a capsule without a witnessed checkpoint from before its entries says that they may be backdated',
    ],
  ],
  'Every key is in the log, before what it signed.': [
    capsule('registration-missing'),
    capsule('keys-backdated'),
  ],
  'A key event of an agent that is left out is found if a later one is shown.': [
    capsule('key-event-cut-out'),
    capsule('key-events-from-2'),
  ],
  'An agent refuses a log that does not continue the one that it saw.': [
    inSdk(
      'log/watch-log.test.ts',
      'whoever sends, answers, resumes or polls is stopped by another history too',
    ),
  ],
  'Every package of the SDK carries the newest checkpoint that its sender verified, and the recipient compares it with its own view.':
    [inSdk('log/peer-view.test.ts', 'two views of one log meet in a package, without a witness')],
  'Two views that exclude each other are kept as a file that proves it.': [
    inSdk('log/peer-view.test.ts', 'convicts a fork of size'),
    [
      'packages/cli/src/commands/verify.test.ts',
      'two signed histories in a split-view file convince a third party',
    ],
  ],
  'Whoever is no party to a package cannot find its events in the log.': [
    inService(
      'outsiders.test.ts',
      'whoever holds every notification and a token for the tiles finds no leaf of the package',
    ),
    inService('outsiders.test.ts', 'equal records share a label and never a commitment'),
  ],
  'A capsule does not prove that nothing happened after it, that the thread has no other package, that a signer has no later key event, or that what was said is true.':
    [
      capsule('head-older-than-the-end'),
      capsule('package-left-out'),
      [
        'packages/sdk/src/evidence/capsule-attacks.test.ts',
        'a capsule says how far it shows key events, since a later revocation can be left out',
      ],
      [
        'packages/sdk/src/evidence/verify-evidence.test.ts',
        'the report says what rests on signatures and what only the exchange says',
      ],
    ],
  'The threat model says what an operator who cheats can still do.': [
    inSdk(
      'monitor/cheating-operator.trial.test.ts',
      'an honest operator is not accused: by a stranger, or by the monitor of a party',
    ),
  ],
}

const page = readFileSync(join(ROOT, 'docs/transparency.md'), 'utf8')

/** The sentences before the second heading of the second level, without Markdown and without the titles of list items. */
function firstScreen(text: string): string[] {
  const [, , second = 0] = [...text.matchAll(/^#+ /gmu)].map(({ index }) => index)
  return text
    .slice(0, second)
    .replaceAll(/^#.*$/gmu, '')
    .replaceAll(/^- \*\*[^*]+\*\* /gmu, '\n')
    .replaceAll(/\[([^\]]+)\]\([^)]+\)/gu, '$1')
    .replaceAll(/[*`]/gu, '')
    .split(/\n\s*\n/u)
    .flatMap((paragraph) =>
      paragraph
        .replaceAll(/\s+/gu, ' ')
        .trim()
        .split(/(?<=\.) /u),
    )
    .filter((sentence) => sentence !== '' && !sentence.endsWith(':'))
}

const exists = ([file, name]: Proof) =>
  existsSync(join(ROOT, file)) && readFileSync(join(ROOT, file), 'utf8').includes(name)

test('[AUD-03] every sentence of the first screen of docs/transparency.md has a test', () => {
  assert.deepEqual(firstScreen(page), Object.keys(PROOFS))
  for (const [sentence, proofs] of Object.entries(PROOFS)) {
    assert.ok(proofs.length > 0, sentence)
    assert.deepEqual(
      proofs.filter((proof) => !exists(proof)),
      [],
      sentence,
    )
  }
})

test('the first screen is one screen, and a sentence without a test is noticed', () => {
  const [, , second = 0] = [...page.matchAll(/^#+ /gmu)].map(({ index }) => index)
  assert.ok(page.slice(0, second).split('\n').length <= 40)
  const added = page.replace('\n## Verify', '\nIt never fails.\n\n## Verify')
  assert.deepEqual(firstScreen(added).at(-1), 'It never fails.')
  assert.equal(exists(capsule('no-such-capsule')), false)
})
