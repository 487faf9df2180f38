import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { logSigner, startWorld, TestLog } from '@agent-exchange/testkit'
import { formatVerifierKey, parsePolicy } from '@agent-exchange/log'
import { aexHere } from '../aex-here.fixture.ts'
import { temporaryFolder } from './agent/agents.fixture.ts'

const folder = temporaryFolder()
after(() => folder[Symbol.dispose]())
const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const at = ['--url', world.url]

test('[AUD-01] a policy is written from the log key, which is public, and is unconfirmed without a fingerprint', async () => {
  const { code, stdout, stderr } = await aexHere('log', 'policy', ...at)
  assert.equal(code, 0, stderr)
  assert.equal(parsePolicy(stdout).isConfirmed, false)
  const [, fingerprint = ''] = /fingerprint ([A-Za-z0-9_-]{43})/u.exec(stderr) ?? []
  const out = folder.path('policy.txt')
  const confirmed = await aexHere('log', 'policy', ...at, '--fingerprint', fingerprint, '--out', out)
  assert.equal(confirmed.code, 0, confirmed.stderr)
  const policy = parsePolicy(readFileSync(out))
  assert.deepEqual([policy.isConfirmed, policy.logs.length], [true, 1])
})

test('another log key than the confirmed one is refused, and nothing is written', async () => {
  const out = folder.path('absent.txt')
  const { code, stderr } = await aexHere(
    'log',
    'policy',
    ...at,
    '--fingerprint',
    'A'.repeat(43),
    '--out',
    out,
  )
  assert.equal(code, 1)
  assert.match(stderr, /Do not trust it: ask the operator/u)
  assert.throws(() => readFileSync(out))
  const away = await aexHere('log', 'policy', '--url', 'http://127.0.0.1:9')
  assert.equal(away.code, 1)
  assert.match(away.stderr, /does the exchange run\?/u)
})

test('[AUD-03] aex log compare names one history, two histories, and what it cannot read, each by its exit code', async () => {
  const stored = (name: string, content: string) => {
    writeFileSync(folder.path(name), content)
    return folder.path(name)
  }
  const leaf = (byte: number) => new Uint8Array(64).fill(byte)
  const log = new TestLog({ platform: world })
  log.leaves.push(leaf(1), leaf(2))
  const state = { keys: [formatVerifierKey(logSigner.key)], checkpoint: await log.publish() }
  const mine = stored('log.json', JSON.stringify(state))
  const same = stored('same.txt', state.checkpoint)
  assert.equal((await aexHere('log', 'compare', mine, same)).code, 0)
  log.leaves[1] = leaf(9)
  const forked = stored('forked.txt', await log.publish())
  const out = folder.path('split-view.json')
  const fork = await aexHere('log', 'compare', mine, forked, '--out', out)
  assert.equal(fork.code, 1)
  assert.match(fork.stdout, /signed\s+two\s+histories\s+that\s+exclude/u)
  assert.equal((await aexHere('verify', out)).code, 3)
  log.leaves.push(leaf(3))
  const larger = stored('larger.txt', await log.publish())
  assert.equal((await aexHere('log', 'compare', mine, larger)).code, 3)
  for (const wrong of [folder.path('absent'), stored('empty.txt', '')])
    assert.equal((await aexHere('log', 'compare', mine, wrong)).code, 2)
})
