import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { chainRecordLabel, type CapsuleV3 } from '@agent-exchange/log'
import { startWorld } from '@agent-exchange/testkit'
import { connectFolder } from '@agent-exchange/sdk/node'
import { aexHere, aexRunning, succeeds as aex } from '../aex-here.fixture.ts'
import { startLyingExchange } from '../lying-proxy.fixture.ts'
import { madeAgent, packageBetween, temporaryFolder } from './agent/agents.fixture.ts'

const AEX = fileURLToPath(new URL('../../bin/aex.js', import.meta.url))
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
const capsule = JSON.parse(readFileSync(capsuleFile, 'utf8')) as CapsuleV3

test('[AUD-01] a capsule of a live exchange verifies with the policy of its reader, and names what it is without', async () => {
  assert.equal(capsule.format, 'aex-evidence/3')
  const policy = folder.path('policy.txt')
  writeFileSync(policy, `log ${capsule.log.key}\nquorum none\n`)
  assert.match(await aex('verify', capsuleFile, '--policy', policy), /log-signed/u)
  const unpinned = await aexHere('verify', capsuleFile)
  assert.equal(unpinned.code, 3)
  assert.match(unpinned.stdout, /unpinned/u)
})

/** The operator logs the first record of a package once more. */
async function logTwice({ packages }: Pick<CapsuleV3, 'packages'>, batch: number): Promise<void> {
  const [shown] = packages
  const label = chainRecordLabel({
    packageId: shown?.metadata.package_id ?? '',
    contentDigest: shown?.metadata.content_digest ?? '',
    receiptSignature: shown?.policy_receipt.signature.signature ?? '',
    firstPosition: 1,
  })
  await world.sql`insert into log_pending (batch_id, secret, leaves)
    values (${Buffer.alloc(16, batch)}, ${Buffer.alloc(32, 1)}, ${Buffer.concat([label, Buffer.alloc(32, 1)])})`
}

/** Scans until something is found. */
async function scanned(...args: string[]): Promise<string> {
  for (let tries = 0; tries < 100; tries++) {
    const { code, stdout } = await aexHere('monitor', ...args, '--once')
    if (code !== 0) {
      assert.equal(code, 1)
      return stdout
    }
  }
  throw new Error('the monitor found nothing')
}

test('[AUD-03] aex monitor scans until it is stopped', async () => {
  const command = [AEX, 'monitor', '--dir', acme, '--every', '1']
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = once(child, 'exit')
  let printed = ''
  for await (const part of child.stderr) {
    printed += String(part)
    if ((printed.match(/Scanned \d+ leaves up to size \d+: 0 findings/gu) ?? []).length === 3)
      child.kill('SIGINT')
  }
  assert.deepEqual(await ended, [0, null], printed)
  assert.equal(printed.match(/Scanned/gu)?.length, 3, printed)
})

test('aex monitor reports a scan that fails for the moment, and repeats it', async () => {
  await using exchange = await startLyingExchange()
  const dir = await madeAgent(exchange.world, 'coil', folder.path('coil'), { url: exchange.url })
  exchange.lie = (path, answer) => {
    if (path.startsWith('/log/')) answer.status = 503
  }
  await using monitor = aexRunning('monitor', '--dir', dir, '--every', '1')
  await monitor.until(/The scan failed and is repeated in 1 s/u)
  exchange.lie = () => undefined
  await monitor.until(/has not published a checkpoint yet/u)
  assert.equal((await monitor.interrupt()).code, 4)
})

test('[AUD-03] aex monitor exits with 4 where it could not look', async () => {
  await using exchange = await startLyingExchange()
  const dir = await madeAgent(exchange.world, 'dusk', folder.path('dusk'), { url: exchange.url })
  const unpublished = await aexHere('monitor', '--dir', dir, '--once')
  assert.equal(unpublished.code, 4, unpublished.stderr)
  exchange.lie = (path, answer) => {
    if (path.startsWith('/log/')) answer.status = 503
  }
  const away = await aexHere('monitor', '--dir', dir, '--once')
  assert.equal(away.code, 4, away.stderr)
  assert.equal((await aexHere('monitor', '--dir', folder.path('nobody'), '--once')).code, 4)
})

test('[AUD-03] aex monitor keeps its place, and exits with 1 over a second leaf of an event', async () => {
  const scan = () => aexHere('monitor', '--dir', bolt, '--thread', threadId, '--once')
  const first = await scan()
  assert.equal(first.code, 0, first.stderr)
  assert.match(first.stderr, /Scanned [1-9]\d* leaves up to size \d+: 0 findings/u)
  assert.match((await scan()).stderr, /Scanned 0 leaves/u)
  assert.ok(readFileSync(join(bolt, 'monitor.json'), 'utf8').includes(threadId))
  const typo = await aexHere('monitor', '--dir', bolt, '--thread', 'thread_none', '--once')
  assert.equal(typo.code, 0)
  assert.match(typo.stderr, /Not watched: the exchange shows no thread_none/u)

  await logTwice(capsule, 1)
  assert.match(
    await scanned('--dir', bolt, '--thread', threadId),
    /twice, at leaf \d+ and at leaf \d+: the operator keeps two histories/u,
  )
})

test('[AUD-03] without --thread, every thread of both parties is watched', async () => {
  const [dune, echo] = [
    await madeAgent(world, 'dune', folder.path('dune')),
    await madeAgent(world, 'echo', folder.path('echo')),
  ]
  const received = await packageBetween(echo, dune)
  const sent = await packageBetween(dune, echo)
  {
    await using agent = await connectFolder(dune)
    const { capsule: own } = await agent.capsule({ threadId: sent.threadId })
    await logTwice(own as CapsuleV3, 2)
    assert.deepEqual(await agent.threads(), [sent.threadId], 'from the outbox')
    await agent.receiver({ inbox: agent.inbox(), handle: async () => undefined }).poll()
    assert.deepEqual(
      new Set(await agent.threads()),
      new Set([received.threadId, sent.threadId]),
      'from the inbox too',
    )
  }
  for (const dir of [dune, echo]) {
    const found = await scanned('--dir', dir)
    assert.match(found, new RegExp(`the record of ${sent.packageId} .* twice, at leaf`, 'u'))
    assert.ok(readFileSync(join(dir, 'monitor.json'), 'utf8').includes(sent.threadId))
  }
})
