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
} from '@agent-exchange/log'
import { capsuleOf, POLICY, startWorld } from '@agent-exchange/testkit'
import { assertEveryMemberFound } from './every-member.fixture.ts'
import { wholeThread } from './evidence.fixture.ts'
import { readCapsule } from '../log/read-capsule.ts'
import { readEvidence } from './read-evidence.ts'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const thread = await wholeThread(world)
const evidence = await readEvidence(thread.bolt, { threadId: thread.threadId })
const policy = parsePolicy(POLICY)
const capsule = await capsuleOf(evidence, { cosigners: 2, earlierSize: 7 })

test('[AUD-03] any member of the log part, with witnesses and history, counts', async (t) => {
  const verify = async (value: Capsule) => canonicalize(await verifyCapsule(value, { policy }))
  const found = await assertEveryMemberFound(capsule, verify, (path) => path[0] === 'log')
  t.diagnostic(`${found} edits, each of them found`)
  assert.ok(found > 100)
})

/** An exchange with a log of its own, as `aex agent evidence` finds it. */
async function collectedCapsule(): Promise<Capsule> {
  const transparency = { transparency_checkpoint_milliseconds: 100, transparency_sequence_milliseconds: 20 }
  await using exchange = await startWorld({ profile: { 'O-07': transparency }, config: { role: 'all' } })
  const { bolt, threadId: ofThread } = await wholeThread(exchange)
  const { capsule: collected, pending } = await readCapsule(bolt, { threadId: ofThread })
  assert.deepEqual(pending, [])
  assert.ok('log' in collected)
  return collected
}

test('[AUD-03] no member of a capsule that an exchange made can be altered without another result', async (t) => {
  const collected = await collectedCapsule()
  const own = parsePolicy(`log ${collected.log.key}\nquorum none\n`)
  assert.equal((await verifyCapsule(collected, { policy: own })).level, 'log-signed')
  const verify = async (value: Capsule) => canonicalize(await verifyCapsule(value, { policy: own }))
  const found = await assertEveryMemberFound(collected, verify, () => true)
  t.diagnostic(`${found} edits, each of them found`)
  assert.ok(found > 1_000)

  // For a verifier who knows another log under this name, it is a stranger's.
  const [name = ''] = collected.log.key.split('+')
  const known = await noteSigner(name, SIGNATURE_TYPE.ed25519, new Uint8Array(32).fill(7))
  const other = parsePolicy(`log ${formatVerifierKey(known.key)}\nquorum none\n`)
  const { level, contradictions, exitCode } = await verifyCapsule(collected, { policy: other })
  assert.deepEqual([level, contradictions, exitCode], ['unpinned', [], 3])
})
