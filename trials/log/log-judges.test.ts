import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { formatProof, parseProof } from '@agent-exchange/log'
import { alteredProofs } from './altered-proofs.ts'
import { goInstalls } from './go-judges.ts'
import { isRecent } from './go-toolchain.ts'

test('an old Go, or none, is not used to build the judges', () => {
  for (const version of ['go1.25', 'go1.25.3', 'go1.30rc1', 'go2.0']) assert.ok(isRecent(version), version)
  for (const version of [undefined, '', 'go1.19.8', 'go1.24.11', 'go0.99', 'devel'])
    assert.ok(!isRecent(version), version)
})

test('the recipe of a log mirror installs the programs that the trial runs', () => {
  const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')
  for (const program of ['mirror', 'fsck'] as const) {
    const line = `go install ${goInstalls(program)}\n`
    assert.ok(page.includes(line), line)
  }
})

test('each alteration changes exactly one thing of a proof that can still be read', () => {
  const hash = (byte: number) => new Uint8Array(32).fill(byte)
  const base64 = Buffer.from(hash(9)).toString('base64')
  const checkpoint = `log.example\n7\n${base64}\n\n— log.example ${base64}\n— witness.example ${base64}\n`
  const text = formatProof({ index: 4, hashes: [hash(1), hash(2)], checkpoint })
  const altered = alteredProofs(text)
  const texts = Object.values(altered)
  assert.equal(texts.length, 3 + 2 + 4 + 4)
  assert.equal(new Set([...texts, text]).size, texts.length + 1)
  for (const each of texts) assert.doesNotThrow(() => parseProof(each))
  assert.ok(altered['signature of witness.example removed']?.endsWith(`— log.example ${base64}\n`))
})
