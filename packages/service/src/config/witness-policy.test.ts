import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import {
  cosignNote,
  formatCheckpoint,
  formatVerifierKey,
  noteSigner,
  SIGNATURE_TYPE,
  signNote,
  withSignatures,
} from '@agent-exchange/log'
import { readWitnessPolicy } from './witness-policy.ts'

const folder = mkdtempSync(join(tmpdir(), 'aex-policy-'))
after(() => rmSync(folder, { recursive: true }))

const signers = (count: number, type: (typeof SIGNATURE_TYPE)[keyof typeof SIGNATURE_TYPE], name = 'log') =>
  Promise.all(Array.from({ length: count }, () => noteSigner(name, type, randomBytes(32))))

async function policyOf(...urls: string[]): Promise<string> {
  const made = await signers(urls.length, SIGNATURE_TYPE.cosignature, 'w.example')
  const lines = made.map(({ key }, index) => `witness w${index} ${formatVerifierKey(key)} ${urls[index]}`)
  const path = join(folder, 'policy')
  writeFileSync(path, [...lines, 'quorum none', ''].join('\n'))
  return path
}

test('a witness is asked over https, because anybody on the way could stop the log; loopback may use http', async () => {
  for (const url of ['https://w.example/', 'http://127.0.0.1:8000', 'http://[::1]:8000', 'http://localhost/'])
    assert.equal(readWitnessPolicy(await policyOf(url)).length, 1, url)
  for (const url of [
    'http://w.example/',
    'http://127.0.0.1.w.example/',
    'ftp://w.example',
    'w.example',
    '',
  ]) {
    const path = await policyOf(url)
    assert.throws(() => readWitnessPolicy(path), /needs an https URL/u, url)
  }
})

test('a checkpoint has room for every permitted witness and every permitted log key', async () => {
  const urls = Array.from({ length: 32 }, (_, index) => `https://w${index}.example/`)
  assert.equal(readWitnessPolicy(await policyOf(...urls)).length, 32)
  const tooMany = await policyOf(...urls, 'https://one-more.example/')
  assert.throws(() => readWitnessPolicy(tooMany), /names 33 witnesses; a checkpoint has room for 32/u)

  const text = formatCheckpoint({ origin: 'log', size: 1, root: randomBytes(32) })
  const note = await signNote(text, await signers(32, SIGNATURE_TYPE.ed25519))
  const witnesses = await signers(32, SIGNATURE_TYPE.cosignature)
  const lines = await Promise.all(witnesses.map((signer) => cosignNote(note, signer, 1)))
  assert.ok(withSignatures(note, lines))
})
