import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { canonicalize } from '@agent-exchange/crypto'
import { parsePolicy, verifyCapsule, type Capsule } from '@agent-exchange/log'
import { capsuleOf, POLICY, startWorld } from '@agent-exchange/testkit'
import { assertEveryMemberFound } from './every-member.fixture.ts'
import { wholeThread } from './evidence.fixture.ts'
import { readEvidence } from './read-evidence.ts'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const thread = await wholeThread(world)
const evidence = await readEvidence(thread.bolt, { threadId: thread.threadId })
const policy = parsePolicy(POLICY)
const capsule = await capsuleOf(evidence, { cosigners: 2, earlierSize: 7 })

test('[AUD-03] any member of a capsule that is changed, deleted or added changes the result', async (t) => {
  const verify = async (value: Capsule) => canonicalize(await verifyCapsule(value, { policy }))
  const inLog = await assertEveryMemberFound(capsule, verify, (path) => path[0] === 'log')
  const inEvidence = await assertEveryMemberFound(
    capsule,
    verify,
    ([list, index]) => list !== 'log' && (index === undefined || Number(index) < 2),
  )
  t.diagnostic(`${inLog + inEvidence} edits, each of them found`)
  assert.ok(inLog > 100 && inEvidence > 100)
})
