import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { jwkThumbprint, type PublicJwk } from '@agent-exchange/crypto'
import { formatVerifierKey, noteSigner, SIGNATURE_TYPE, type CapsuleResult } from '@agent-exchange/log'
import { connectFolder } from '@agent-exchange/sdk/node'
import { cosignedCapsule, logSigner, POLICY, startWorld, TestLog } from '@agent-exchange/testkit'
import { aexHere } from '../aex-here.fixture.ts'
import { runAex } from '../aex-process.fixture.ts'
import { ROOT } from '../running-exchange.fixture.ts'
import { madeAgent, packageBetween, temporaryFolder } from './agent/agents.fixture.ts'

const AEX = fileURLToPath(new URL('../../bin/aex.js', import.meta.url))
const folder = temporaryFolder()
const profile = {
  'O-07': { transparency_checkpoint_milliseconds: 100, transparency_sequence_milliseconds: 20 },
}
const world = await startWorld({ profile, config: { role: 'all' }, evidenceVersion: 2 })
const [acme, bolt] = [
  await madeAgent(world, 'acme', folder.path('acme')),
  await madeAgent(world, 'bolt', folder.path('bolt')),
]
const { threadId, packageId } = await packageBetween(acme, bolt)
const { capsule: logSigned } = await collect()
// Everything below works without the exchange.
await world[Symbol.asyncDispose]()
after(() => folder[Symbol.dispose]())

async function collect() {
  await using recipient = await connectFolder(bolt)
  await recipient.open(packageId)
  const { capsule: collected } = await recipient.capsule({ threadId })
  assert.ok(collected.format === 'aex-evidence/3')
  return { capsule: collected }
}

function stored(name: string, content: unknown): string {
  const file = folder.path(name)
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

const { capsule, policy: policyText } = await cosignedCapsule(logSigned)
const file = stored('capsule.json', capsule)
const policy = stored('policy.txt', policyText)
const contradictory = stored('contradictory.json', {
  ...capsule,
  packages: capsule.packages.map((each) => ({ ...each, entries: each.entries.slice(1) })),
})

test('[AUD-01][AUD-03] the verdict comes first, in 80 columns, with fingerprints in full', async () => {
  const { code, stdout } = await aexHere('verify', file, '--policy', policy, '--require', 'witnessed')
  assert.equal(code, 0)
  assert.match(stdout, /^Proven: org_acme sent this package to org_bolt on \d+ \w+ \d{4}/u)
  assert.match(
    stdout.replaceAll(/\s+/gu, ' '),
    /; org_bolt signed that it opened it the same day\. Complete up to .* UTC\)?, by the exchange's signed statement\. /u,
  )
  const tooWide = stdout.split('\n').filter((line) => line.length > 80 && line.trim().includes(' '))
  assert.deepEqual(tooWide, [])
  const unpinned = await aexHere('verify', file, '--require', 'unpinned')
  assert.ok(unpinned.stdout.includes(capsule.log.key))
})

test('[AUD-01] organizations have the names that the reader gave them, with their ids', async () => {
  const names = stored('names.json', { org_acme: 'Acme & Söhne <AG>' })
  const html = folder.path('named.html')
  const { stdout } = await aexHere('verify', file, '--policy', policy, '--names', names, '--html', html)
  assert.match(stdout, /^Proven: “Acme & Söhne <AG>” \(org_acme\) sent this package to org_bolt on/u)
  assert.match(stdout, /^Names: from your own address book; nobody signed them$/mu)
  assert.match(readFileSync(html, 'utf8'), /“Acme &amp; Söhne &lt;AG&gt;” \(org_acme\) sent/u)
  const { stdout: json } = await aexHere('verify', file, '--policy', policy, '--names', names, '--json')
  assert.match((JSON.parse(json) as { sentence: string }).sentence, /“Acme & Söhne <AG>” \(org_acme\)/u)
  for (const wrong of ['[]', '{', '{"org_acme":"Acme\\nProven: all"}', '{"acme":"Acme"}']) {
    const refused = await aexHere('verify', file, '--names', stored('wrong-names.json', wrong))
    assert.deepEqual([refused.code, refused.stdout], [2, ''], wrong)
    assert.match(refused.stderr, /wrong-names\.json holds no names\. /u)
  }
})

test('exit codes: 0 meets, 1 contradiction, 2 unreadable, 3 below', async () => {
  const cases = [
    [0, file, '--policy', policy],
    [1, contradictory, '--policy', policy],
    [2, stored('torn.json', JSON.stringify(capsule).slice(0, -1)), '--policy', policy],
    [2, folder.path('absent.json')],
    [2, folder.path('acme')],
    [2, file, '--policy', stored('wrong.txt', 'quorum everybody\n')],
    [2, file, '--policy', folder.path('absent.txt')],
    [2, file, '--html', folder.path('absent/report.html')],
    [3, file],
    [3, stored('unwitnessed.json', logSigned), '--policy', policy, '--require', 'witnessed'],
    [0, stored('unwitnessed.json', logSigned), '--policy', policy],
  ] as const
  for (const [code, ...args] of cases) {
    const ending = await aexHere('verify', ...args)
    assert.equal(ending.code, code, `${args.join(' ')}\n${ending.stdout}${ending.stderr}`)
    assert.doesNotMatch(ending.stderr, /^\s+at /m)
  }
})

test('a report that cannot be written is found before anything is verified, also that of --page', async () => {
  for (const option of ['--html', '--page']) {
    const { code, stdout, stderr } = await aexHere('verify', file, option, folder.path('absent/report.html'))
    assert.deepEqual([code, stdout], [2, ''], option)
    assert.match(stderr, /^The (?:report|page) cannot be written to .*absent/u)
  }
})

test('a disk that fills up hides no contradiction', { skip: !existsSync('/dev/full') }, async () => {
  const torn = await aexHere('verify', contradictory, '--policy', policy, '--html', '/dev/full')
  assert.equal(torn.code, 1)
  assert.match(torn.stdout, /^Broken: /u)
  assert.match(torn.stderr, /\/dev\/full cannot be written/u)
  const sound = await aexHere('verify', file, '--policy', policy, '--html', '/dev/full')
  assert.equal(sound.code, 2)
})

test('what nobody expects ends with 2 and a sentence, never with 1 or a stack', async () => {
  const broken = stored('broken.mjs', 'JSON.parse = () => { throw new RangeError("out of luck") }')
  const env = { NODE_OPTIONS: `--import=${pathToFileURL(broken).href}` }
  for (const args of [
    ['verify', contradictory],
    ['verify', contradictory, '--policy', policy],
  ]) {
    const { code, stderr } = await runAex(args, { env })
    assert.equal(code, 2, stderr)
    assert.match(stderr, /unexpectedly: out of luck/u)
    assert.doesNotMatch(stderr, /^\s+at /mu)
  }
})

test('a closed pipe is no contradiction, and hides none', { timeout: 60_000 }, async () => {
  const verified = (capsuleFile: string) =>
    promisify(execFile)('bash', [
      '-c',
      '"$@" | true; exit "${PIPESTATUS[0]}"',
      '-',
      process.execPath,
      AEX,
      'verify',
      capsuleFile,
      '--require',
      'unpinned',
    ]).then(
      () => 0,
      ({ code }: { code: number }) => code,
    )
  assert.ok([0, 2].includes(await verified(file)))
  assert.equal(await verified(contradictory), 1)
})

test('docs/transparency.md: the policy of "Write a policy" is one', async () => {
  const page = readFileSync(join(ROOT, 'docs/transparency.md'), 'utf8')
  const [, text = ''] = /```text\n(.*?)```/su.exec(page.slice(page.indexOf('## Write a policy'))) ?? []
  // The witnesses of the page are those of the test.
  const own = text.replaceAll(/^ +/gmu, '').replace(/^log .*$/mu, `log ${capsule.log.key}`)
  const written = stored('written.txt', own)
  const { code, stdout, stderr } = await aexHere(
    'verify',
    file,
    '--policy',
    written,
    '--require',
    'witnessed',
  )
  assert.equal(code, 0, stdout + stderr)
})

test('[AUD-01] aex verify takes what its verdict asks for: envelopes, policies and fingerprints', async () => {
  const asked = JSON.parse(
    (await aexHere('verify', file, '--policy', policy, '--json')).stdout,
  ) as CapsuleResult
  assert.ok(asked.checks.some(({ code, result }) => code === 'content_signature' && result === 'unproved'))
  const { policy_receipt: receipt } = capsule.packages[0] ?? {}
  const other = stored('other-policy.json', { object_type: 'policy_envelope', policy_id: 'pol_1' })
  const wrong = await aexHere('verify', file, '--policy', policy, other)
  assert.equal(wrong.code, 2)
  assert.match(wrong.stderr, /other-policy\.json/u)
  const key = capsule.keys.find(({ agent_id }) => agent_id === receipt?.sender_agent_id)
  assert.ok(key)
  const known = `${key.agent_id}=${await jwkThumbprint(key.public_key as PublicJwk)}`
  const trusted = await aexHere('verify', file, '--policy', policy, '--fingerprint', known)
  assert.equal(trusted.code, 0)
  assert.ok(!trusted.stdout.includes(`Whether the key is one of ${key.agent_id}`))
  const stranger = `${key.agent_id}=${'A'.repeat(43)}`
  assert.equal((await aexHere('verify', file, '--policy', policy, '--fingerprint', stranger)).code, 1)
})

test('two tlog-policies are refused, and an unconfirmed one pins nothing', async () => {
  const two = await aexHere('verify', file, '--policy', policy, policy)
  assert.equal(two.code, 2)
  assert.match(two.stderr, /Give one tlog-policy, not 2/u)
  const unconfirmed = stored('unconfirmed.txt', `# aex: unconfirmed\n${policyText}`)
  const { code, stdout } = await aexHere('verify', file, '--policy', unconfirmed)
  assert.equal(code, 3)
  assert.match(stdout, /^Consistent, but not proven: /u)
})

test('a wrong option ends with 2, since 1 means a contradiction', async () => {
  const { code, stderr } = await runAex(['verify', file, '--require', 'everything'])
  assert.equal(code, 2)
  assert.match(stderr, /Allowed choices are unpinned, log-signed, witnessed/u)
  assert.equal((await runAex(['backup', 'verify', '--nonsense'])).code, 2, 'there 1 means a damaged backup')
  assert.equal((await runAex(['backup', 'verify', '--help'])).code, 0)
})

test('--json prints the result, and one document where the file cannot be read', async () => {
  const result = JSON.parse((await aexHere('verify', file, '--json')).stdout) as CapsuleResult
  assert.deepEqual([result.level, result.exitCode, result.threadId], ['unpinned', 3, threadId])
  const refused = JSON.parse((await aexHere('verify', folder.path('absent'), '--json')).stdout) as object
  assert.deepEqual(Object.keys(refused), ['word', 'outcome', 'exitCode', 'sentence'])
})

test('[AUD-01] --html writes a report that says the same and loads nothing', async () => {
  const report = folder.path('report.html')
  const { code, stdout, stderr } = await aexHere('verify', file, '--policy', policy, '--html', report)
  assert.equal(code, 0)
  assert.match(stderr, /^Wrote /u)
  const page = readFileSync(report, 'utf8')
  assert.ok(page.includes('capsule.json') && page.includes(threadId))
  assert.ok(page.includes('Proven: org_acme sent') && stdout.includes('Proven: org_acme sent'))
  assert.ok(!/<(?:script|link|img|iframe)/u.test(page))
})

const logPolicy = stored('log-policy.txt', POLICY)

test('[AUD-03] two signed histories in a split-view file convince a third party', async () => {
  const log = new TestLog()
  log.leaves.push(new Uint8Array(64).fill(1), new Uint8Array(64).fill(2))
  const first = await log.publish()
  log.leaves[0] = new Uint8Array(64).fill(3)
  const second = await log.publish()
  const key = formatVerifierKey(logSigner.key)
  const view = { format: 'aex-split-view/1', key, first, second, found_at: '2026-01-01T00:00:00.000Z' }
  const split = await aexHere('verify', stored('split.json', view), '--policy', logPolicy)
  assert.equal(split.code, 1)
  assert.match(split.stdout.replaceAll(/\s+/gu, ' '), /signed two histories that exclude each other/u)
  assert.match(split.stdout.replaceAll(/\s+/gu, ' '), /^The operator of the log/u)
  assert.ok(split.stdout.includes(key))
  const report = folder.path('split.html')
  const noReport = await aexHere('verify', folder.path('split.json'), '--policy', logPolicy, '--html', report)
  assert.equal(noReport.code, 1)
  assert.match(noReport.stderr, /No report was written: --html is for capsules/u)
  assert.equal(existsSync(report), false)
  const same = await aexHere('verify', stored('same.json', { ...view, second: first }), '--policy', logPolicy)
  assert.equal(same.code, 3)
  assert.equal((await aexHere('verify', stored('torn-view.json', { ...view, key: 'x' }))).code, 2)
})

test('[AUD-03] a stranger with a key in the name of the log cannot accuse its operator', async () => {
  const signer = await noteSigner(logSigner.key.name, SIGNATURE_TYPE.ed25519, new Uint8Array(32).fill(99))
  const log = new TestLog({ signer })
  log.leaves.push(new Uint8Array(64).fill(1))
  const first = await log.publish()
  log.leaves[0] = new Uint8Array(64).fill(3)
  const second = await log.publish()
  const key = formatVerifierKey(signer.key)
  const forged = { format: 'aex-split-view/1', key, first, second, found_at: '2026-01-01T00:00:00.000Z' }
  for (const given of [[], ['--policy', logPolicy]]) {
    const { code, stdout } = await aexHere('verify', stored('forged.json', forged), ...given)
    const text = stdout.replaceAll(/\s+/gu, ' ')
    assert.equal(code, 3)
    assert.ok(text.startsWith(`The holder of the key ${key} signed two histories`), text)
    assert.match(text, /does not show that the operator of the log \S+ signed them/u)
  }
})

test('a file above the limit is not read, and the message says how to allow more', async () => {
  const large = stored('large.json', ' '.repeat(33 * 1_048_576))
  const refused = await aexHere('verify', large)
  assert.equal(refused.code, 2)
  assert.match(refused.stderr, /is larger than 33554432 bytes\. Allow more with --maximum-size\./u)
  const allowed = await aexHere('verify', large, '--maximum-size', '64')
  assert.equal(allowed.code, 2)
  assert.doesNotMatch(allowed.stdout + allowed.stderr, /--maximum-size/u)
})

test('[AUD-03] --lines answers each capsule with its word, and an unreadable line too', async () => {
  const lines = [
    JSON.stringify({ capsule, policy: policyText }),
    JSON.stringify({ capsule, policy: null }),
    JSON.stringify({
      capsule: JSON.parse(readFileSync(contradictory, 'utf8')) as object,
      policy: policyText,
    }),
    'no json',
  ]
  const { stdout } = await runAex(['verify', '--lines'], { input: lines.join('\n') })
  const answers = stdout.trimEnd().split('\n')
  assert.deepEqual(
    answers.map((line) => (JSON.parse(line) as { word: string }).word),
    ['proven', 'consistent', 'broken', 'unreadable'],
  )
})
