import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { after, test } from 'node:test'
import type { CapsuleResult, EvidenceBundle } from '@agent-exchange/log'
import { connectFolder } from '@agent-exchange/sdk/node'
import { startWorld } from '@agent-exchange/testkit'
import { aexHere, documentOf, fails, succeeds as aex } from '../../aex-here.fixture.ts'
import { madeAgent, packageBetween, temporaryFolder } from './agents.fixture.ts'

const folder = temporaryFolder()
// The verification of formats 1 and 2. Nothing publishes the log here.
const world = await startWorld({ evidenceVersion: 1 })
after(async () => {
  await world[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

const [acme, bolt] = [
  await madeAgent(world, 'acme', folder.path('acme')),
  await madeAgent(world, 'bolt', folder.path('bolt')),
]
const [evidence, policyFile, contentFile] = ['evidence', 'policy', 'content'].map((name) =>
  folder.path(`${name}.json`),
) as [string, string, string]

/** One package, opened; its policy and its envelope are kept. */
async function exchangeOne() {
  const sent = await packageBetween(acme, bolt)
  await using recipient = await connectFolder(bolt)
  await recipient.open(sent.packageId)
  writeFileSync(policyFile, JSON.stringify(sent.policy))
  const { connection } = recipient.context
  const path = { package_id: sent.packageId }
  const { ciphertext_download_url: url = '' } = await connection.call('getPackage', { path })
  writeFileSync(contentFile, await connection.download(url, { maximumBytes: 1_000_000 }))
  return sent
}

const { packageId, threadId } = await exchangeOne()
await aex('agent', 'evidence', threadId, '--out', evidence, '--dir', bolt, '--wait', '0')
/** The old way to verify a file, which works for one more release. */
const verify = ['agent', 'evidence', '--verify', evidence]
const bundle = JSON.parse(readFileSync(evidence, 'utf8')) as EvidenceBundle

/** A file with the bundle, changed. */
function changed(name: string, change: object): string {
  const file = folder.path(`${name}.json`)
  writeFileSync(file, JSON.stringify({ ...bundle, ...change }))
  return file
}

test('[AUD-01] the text begins with the verdict, then what happened and what is not proved, in 80 columns', async () => {
  const text = await aex(...verify)
  assert.match(text, /^Consistent, but not proven: org_acme sent this package to org_bolt/u)
  const titles = text.split('\n').filter((line) => /^\S.*:$/u.test(line))
  assert.deepEqual(titles.slice(0, 3), ['What happened:', 'Not proved:', 'Signatures that hold:'])
  assert.match(text.replaceAll(/\s+/gu, ' '), /agent_bolt signed the receipt “opened” \(pkg_\w+, entry \d+/u)
  assert.ok(text.split('\n').every((line) => line.length <= 80 || !line.trim().includes(' ')))
})

test('[AUD-01] verification takes what it asks for: policy, content, fingerprints and an earlier end of the chain', async () => {
  const fingerprints: string[] = []
  for (const name of ['acme', 'bolt']) {
    const { fingerprint } = await documentOf('agent', 'fingerprint', '--dir', folder.path(name))
    fingerprints.push(`agent_${name}=${String(fingerprint)}`)
  }
  const end = bundle.entries.at(-1)
  const anchor = `${end?.position}=${end?.proof.hash}`
  const given = ['--policy', policyFile, '--content', contentFile, '--fingerprint', ...fingerprints]
  const document = await documentOf<{ report: CapsuleResult }>(...verify, ...given, '--anchor', anchor)
  const { report } = document
  assert.equal(report.word, 'consistent')
  const held = new Set(report.checks.flatMap(({ code, result }) => (result === 'holds' ? [code] : [])))
  for (const code of ['policy_evaluated', 'content_signature', 'key_trusted', 'thread_anchor'] as const)
    assert.ok(held.has(code), code)
  const open = report.checks.flatMap(({ code, result }) => (result === 'unproved' ? [code] : []))
  assert.ok(!open.includes('policy_evaluated') && !open.includes('content_signature'), open.join(' '))

  const other = `agent_acme=${'A'.repeat(43)}`
  const refused = await aexHere(...verify, '--fingerprint', other)
  assert.equal(refused.code, 1)
  assert.match(refused.stdout, /^Broken: /u)
  assert.match(
    refused.stdout.replaceAll(/\s+/gu, ' '),
    /The key is none of those that you trust \(key key_\S+ of agent_acme\)/u,
  )
  const { code } = await aexHere(...verify, '--anchor', `1=${'0'.repeat(64)}`)
  assert.equal(code, 1)
})

test('a path that cannot be written is found before evidence is collected or a receipt is sent', async () => {
  // Neither command gets as far as the folder, which does not exist.
  const absent = ['--out', folder.path('absent/out.json'), '--dir', folder.path('nobody')]
  assert.match(await fails('agent', 'evidence', threadId, ...absent), /^The capsule cannot be written to /u)
  assert.match(await fails('agent', 'open', packageId, ...absent), /^The content cannot be written to /u)
})

test('[AUD-01] what belongs to nothing in the evidence is refused in a sentence', async () => {
  const strange = folder.path('strange.json')
  const policy = JSON.parse(readFileSync(policyFile, 'utf8')) as object
  writeFileSync(strange, JSON.stringify({ ...policy, id: 'pol_strange', policy_id: 'pol_strange' }))
  assert.match(await fails(...verify, '--policy', strange), /under which no package here was evaluated/)
  assert.match(await fails(...verify, '--policy', contentFile), /content\.json is not valid/)
  assert.match(await fails(...verify, '--content', policyFile), /policy\.json is not an envelope/)
  assert.match(await fails(...verify, '--content', folder.path('absent')), /cannot be read/)
  assert.match(
    await fails(...verify, '--fingerprint', `agent_x=${'A'.repeat(43)}`),
    /No key of agent_x is in/,
  )
  assert.match(await fails(...verify, '--fingerprint', 'agent_x'), /Write it as AGENT=FINGERPRINT/)
  assert.match(await fails(...verify, '--anchor', '7'), /Write it as POSITION=HASH/)
  const empty = changed('empty', { packages: [], entries: [] })
  const said = await fails('agent', 'evidence', '--verify', empty, '--content', contentFile)
  assert.match(said, new RegExp(`is the content of ${packageId}, which is not in this evidence`))
  const broken = changed('no-evidence', { packages: [null], keys: 7 })
  assert.match(
    await fails('agent', 'evidence', '--verify', broken, '--policy', policyFile),
    /no package here/,
  )
})

test('[AUD-01][PKG-08] a forged receipt is shown first, with what happened', async () => {
  const proof = {
    kind: 'receipt_rejected',
    recorded_at: '2026-01-01T00:00:00Z',
    previous_hash: null,
    hash: '',
  }
  const position = bundle.entries.length + 1
  const forged = changed('forged', {
    entries: [...bundle.entries, { position, proof }],
    packages: bundle.packages.map((record) => ({ ...record, positions: [...record.positions, position] })),
  })
  const { code, stdout } = await aexHere('agent', 'evidence', '--verify', forged)
  assert.equal(code, 1)
  assert.match(stdout, /^Broken: /)
  const [, faults = ''] = stdout.split('\n\n')
  assert.match(faults, /^Contradictions:/u)
  assert.match(
    faults.replaceAll(/\s+/gu, ' '),
    /nobody signed it, only the exchange says so \(pkg_\w+, entry \d+\)/,
  )
})
