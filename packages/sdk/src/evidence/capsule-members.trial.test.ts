import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { canonicalize } from '@agent-exchange/crypto'
import {
  noteSigner,
  formatVerifierKey,
  parsePolicy,
  SIGNATURE_TYPE,
  verifyCapsule,
  type Capsule,
  type LogPolicy,
} from '@agent-exchange/log'
import { capsuleOf, POLICY, startWorld } from '@agent-exchange/testkit'
import { startCosigningWitness } from './cosigning-witness.fixture.ts'
import { effectsOfEdits, type Views } from './every-member.fixture.ts'
import { wholeThread } from './evidence.fixture.ts'
import { readEarlierCapsule } from './read-earlier-capsule.ts'
import { readEvidence } from './read-evidence.ts'

const world = await startWorld({ evidenceVersion: 1 })
after(() => world[Symbol.asyncDispose]())
const thread = await wholeThread(world)
const evidence = await readEvidence(thread.bolt, { threadId: thread.threadId })
const capsule = await capsuleOf(evidence, { cosigners: 2, earlierSize: 7 })

/** What a reader relies on: the level, the exit code, contradictions, and what is proved. The rest is shown as a claim. */
const viewsUnder =
  (policy: LogPolicy) =>
  async (value: Capsule): Promise<Views> => {
    const result = await verifyCapsule(value, { policy })
    const { level, exitCode, contradictions, checks, shownKeyEvents } = result
    const verdict = { level: level ?? null, exitCode, contradictions, checks, shownKeyEvents }
    return { verdict: canonicalize(verdict), whole: canonicalize(result) }
  }

/** Edits that the result shows as another claim of the exchange, and that leave the verdict as it is. */
const SHOWN_ONLY: readonly (readonly [edit: RegExp, why: string])[] = [
  [/^add \/keys\/\d+\/events$/u, 'an event of a key twice says what it says once'],
  [/^add \/keys\/\d+\/(?:key(?:\/public_key)?|events\/\d+(?:\/details)?)$/u, 'a member that no step reads'],
  [/^change \/keys\/\d+\/key\/status$/u, 'the times of the events count, not the status'],
  [/^delete \/keys\/\d+\/key\/revoked_at$/u, 'the event in the log has the time of the revocation'],
  [/^\w+ \/keys\/\d+\/key\/replaces_key_id$/u, 'no signature covers which key another one replaces'],
  [
    /^change \/packages\/\d+\/metadata\/(?:schema_version|content_type)$/u,
    'only the content covers them, and evidence holds none',
  ],
]

test('[AUD-03] any member of the log part, with witnesses and history, counts', async (t) => {
  const { edits, shownOnly, unnoticed } = await effectsOfEdits(
    capsule,
    viewsUnder(parsePolicy(POLICY)),
    (path) => path[0] === 'log',
  )
  t.diagnostic(`${edits} edits, each of them found`)
  assert.ok(edits > 100)
  assert.deepEqual(unnoticed, [])
  assert.deepEqual(shownOnly, [])
})

/** An exchange with a log of its own and a witness, as `aex agent evidence` finds it. */
async function collectedCapsule(): Promise<{ collected: Capsule; policy: string }> {
  await using started = await startCosigningWitness()
  const { witness } = started
  const transparency = { transparency_checkpoint_milliseconds: 100, transparency_sequence_milliseconds: 20 }
  await using exchange = await startWorld({
    profile: { 'O-07': transparency },
    config: { role: 'all', witnesses: [witness] },
    evidenceVersion: 1,
  })
  const { bolt, threadId: ofThread } = await wholeThread(exchange)
  const { capsule: collected, pending } = await readEarlierCapsule(bolt, { threadId: ofThread })
  assert.deepEqual(pending, [])
  assert.ok('log' in collected)
  const key = formatVerifierKey(witness.key)
  return { collected, policy: `log ${collected.log.key}\nwitness w1 ${key}\nquorum w1\n` }
}

test('[AUD-03] no member of a capsule that an exchange made can be altered without another verdict', async (t) => {
  const { collected, policy } = await collectedCapsule()
  const own = parsePolicy(policy)
  const found = await verifyCapsule(collected, { policy: own })
  assert.deepEqual([found.level, found.checkpoint?.isQuorumMet], ['signed-only', true])
  const { edits, shownOnly, unnoticed } = await effectsOfEdits(collected, viewsUnder(own), () => true)
  t.diagnostic(`${edits} edits, ${shownOnly.length} of them only shown`)
  assert.ok(edits > 1_000)
  assert.deepEqual(unnoticed, [])
  const unexplained = shownOnly.filter((edit) => !SHOWN_ONLY.some(([pattern]) => pattern.test(edit)))
  assert.deepEqual(unexplained, [])
  const unused = SHOWN_ONLY.filter(([pattern]) => !shownOnly.some((edit) => pattern.test(edit)))
  assert.deepEqual(unused, [])

  // For a verifier who knows another log under this name, it is a stranger's.
  const [name = ''] = collected.log.key.split('+')
  const known = await noteSigner(name, SIGNATURE_TYPE.ed25519, new Uint8Array(32).fill(7))
  const other = parsePolicy(`log ${formatVerifierKey(known.key)}\nquorum none\n`)
  const { level, contradictions, exitCode } = await verifyCapsule(collected, { policy: other })
  assert.deepEqual([level, contradictions, exitCode], ['signed-only', [], 3])
})
