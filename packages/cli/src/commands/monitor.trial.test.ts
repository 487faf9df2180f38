import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { recordLabel, type Capsule } from '@agent-exchange/log'
import { startWorld } from '@agent-exchange/testkit'
import { aexHere, succeeds as aex } from '../aex-here.fixture.ts'
import { madeAgent, packageBetween, temporaryFolder } from './agent/agents.fixture.ts'

const profile = {
  'O-07': { transparency_checkpoint_milliseconds: 100, transparency_sequence_milliseconds: 20 },
}
const folder = temporaryFolder()
const world = await startWorld({ profile, config: { role: 'all' } })
after(async () => {
  await world[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})
const [acme, bolt] = [
  await madeAgent(world, 'acme', folder.path('acme')),
  await madeAgent(world, 'bolt', folder.path('bolt')),
]
const { threadId } = await packageBetween(acme, bolt)
const capsuleFile = folder.path('capsule.json')
await aex('agent', 'evidence', threadId, '--out', capsuleFile, '--dir', bolt)
const capsule = JSON.parse(readFileSync(capsuleFile, 'utf8')) as Capsule

test('[AUD-01] a capsule of a live exchange verifies with the policy of its reader, and names what it is without', async () => {
  assert.equal(capsule.format, 'aex-evidence/2')
  const policy = folder.path('policy.txt')
  writeFileSync(policy, `log ${capsule.log.key}\nquorum none\n`)
  assert.match(await aex('verify', capsuleFile, '--policy', policy), /log-signed/u)
  const unpinned = await aexHere('verify', capsuleFile)
  assert.equal(unpinned.code, 3)
  assert.match(unpinned.stdout, /unpinned/u)
})

test('[AUD-03] aex monitor keeps its place, and exits with 1 over a second leaf of an event', async () => {
  const scan = () => aexHere('monitor', '--dir', bolt, '--thread', threadId, '--once')
  const first = await scan()
  assert.equal(first.code, 0, first.stderr)
  assert.match(first.stderr, /Scanned [1-9]\d* leaves up to size \d+: 0 findings/u)
  assert.match((await scan()).stderr, /Scanned 0 leaves/u)
  assert.ok(readFileSync(join(bolt, 'monitor.json'), 'utf8').includes(threadId))

  // The operator logs the first record once more.
  const [shown] = capsule.packages
  const label = recordLabel({
    packageId: shown?.metadata.package_id ?? '',
    contentDigest: shown?.metadata.content_digest ?? '',
    receiptSignature: shown?.policy_receipt.signature.signature ?? '',
    firstPosition: 1,
  })
  await world.sql`insert into log_pending (batch_id, secret, leaves)
    values (${Buffer.alloc(16, 1)}, ${Buffer.alloc(32, 1)}, ${Buffer.concat([label, Buffer.alloc(32, 1)])})`
  for (let tries = 0; tries < 100; tries++) {
    const { code, stdout } = await scan()
    if (code === 0) continue
    assert.equal(code, 1)
    assert.match(stdout, /twice, at leaf \d+ and at leaf \d+: the operator keeps two histories/u)
    return
  }
  assert.fail('the monitor found nothing')
})
