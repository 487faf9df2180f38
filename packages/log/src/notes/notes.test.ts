import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { LogError } from '../errors.ts'
import { EMPTY_ROOT } from '../merkle/tree-hash.ts'
import { formatCheckpoint, openCheckpoint, parseCheckpoint } from './checkpoint.ts'
import { MAXIMUM_NOTE_BYTES, MAXIMUM_SIGNATURES, parseNote, withSignatures } from './note.ts'
import { cosignNote, formatSignerKey, noteSigner, parseSignerKey, signNote } from './sign-note.ts'
import { formatProof, parseProof } from './tlog-proof.ts'
import { formatVerifierKey, parseVerifierKey, SIGNATURE_TYPE } from './verifier-key.ts'
import { verifyNote } from './verify-note.ts'
import { formatWitnessRequest, parseWitnessRequest } from './witness-request.ts'

const { ed25519, cosignature } = SIGNATURE_TYPE
const seed = (byte: number) => new Uint8Array(32).fill(byte)
const log = await noteSigner('log.example/one', ed25519, seed(1))
const witness = await noteSigner('witness.example/w', cosignature, seed(2))
const text = formatCheckpoint({ origin: 'log.example/one', size: 3, root: EMPTY_ROOT })
const signed = await signNote(text, [log])
const cosigned = withSignatures(signed, [await cosignNote(signed, witness, 1_700_000_000)])

test('the example of C2SP tlog-cosignature and our own notes have the same form', () => {
  const example = [
    'example.com/behind-the-sofa',
    '20852163',
    'CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=',
    '',
    '— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=',
    '— witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==',
    '',
  ].join('\n')
  const { signatures, text: body } = parseNote(example)
  assert.deepEqual(
    signatures.map(({ name, id, bytes }) => [name, id, bytes.length]),
    [
      ['example.com/behind-the-sofa', '033de0ae', 64],
      ['witness.example.com/w1', '8d66cf3f', 72],
    ],
  )
  assert.equal(parseCheckpoint(body).size, 20_852_163)
})

test('a checkpoint opens with the key of its log, and shows who cosigned it when', async () => {
  const { origin, size, root, signatures } = await openCheckpoint(cosigned, [log.key, witness.key])
  assert.deepEqual([origin, size, root], ['log.example/one', 3, EMPTY_ROOT])
  assert.deepEqual(
    signatures.map(({ key, time }) => [key.name, time]),
    [
      ['log.example/one', undefined],
      ['witness.example/w', 1_700_000_000],
    ],
  )
  // Unknown keys are ignored, also one of a known name.
  const namesake = await noteSigner('witness.example/w', cosignature, seed(3))
  assert.equal((await openCheckpoint(cosigned, [log.key, namesake.key])).signatures.length, 1)
})

test('a witness alone, another key of that name, or a log of another origin opens nothing', async () => {
  const impostor = await noteSigner('log.example/one', ed25519, seed(4))
  const other = await noteSigner('log.example/other', ed25519, seed(5))
  await assert.rejects(openCheckpoint(cosigned, [witness.key]), { code: 'note_unsigned' })
  await assert.rejects(openCheckpoint(await signNote(text, [impostor]), [log.key]), { code: 'note_unsigned' })
  await assert.rejects(openCheckpoint(await signNote(text, [other]), [other.key]), {
    code: 'checkpoint_origin',
  })
})

test('a signature of a known key that does not fit makes the whole note invalid', async () => {
  const another = await signNote(text.replace('\n3\n', '\n4\n'), [log])
  const line = another.split('\n').at(-2) as string
  await assert.rejects(openCheckpoint(withSignatures(cosigned, [line]), [log.key]), {
    code: 'note_signature_invalid',
  })
  // A cosignature whose time is another one: the time is part of what was signed.
  const late = cosigned.replace(/— witness.*\n$/u, (old) => {
    const bytes = Buffer.from(old.split(' ').at(-1) as string, 'base64')
    bytes.writeUInt8((bytes.readUInt8(11) + 1) % 256, 11)
    return `— witness.example/w ${bytes.toString('base64')}\n`
  })
  await assert.rejects(openCheckpoint(late, [log.key, witness.key]), { code: 'note_signature_invalid' })
  for (const length of [4 + 8, 4 + 9, 4 + 71, 4 + 73]) {
    const id = Buffer.from(witness.key.id, 'hex')
    const short = Buffer.concat([id, Buffer.alloc(length - 4)]).toString('base64')
    const note = parseNote(withSignatures(signed, [`— witness.example/w ${short}`]))
    await assert.rejects(verifyNote(note, [witness.key]), { code: 'note_signature_invalid' })
  }
})

test('a cosignature with a time beyond the year 9999 is refused, and makes no verifier fail', async () => {
  const latest = 253_402_300_799
  const opened = (time: number) =>
    cosignNote(signed, witness, time).then((line) =>
      openCheckpoint(withSignatures(signed, [line]), [log.key, witness.key]),
    )
  assert.equal((await opened(latest)).signatures[1]?.time, latest)
  assert.equal(new Date(latest * 1_000).getUTCFullYear(), 9_999)
  for (const time of [latest + 1, Number.MAX_SAFE_INTEGER])
    await assert.rejects(opened(time), { name: 'LogError', code: 'note_time' })
})

test('signature types that we do not know are ignored in notes and refused as keys', async () => {
  const postQuantum = Buffer.alloc(4 + 8 + 2_420, 7).toString('base64')
  const note = withSignatures(cosigned, [`— witness.example/pq ${postQuantum}`])
  assert.equal((await openCheckpoint(note, [log.key, witness.key])).signatures.length, 2)
  const vkey = `witness.example/pq+00000000+${Buffer.alloc(1_313, 6).toString('base64')}`
  assert.throws(() => parseVerifierKey(vkey), { code: 'key_type' })
})

const malformed: [name: string, note: string | Uint8Array, code: string][] = [
  ['nothing', '', 'note_malformed'],
  ['no blank line', text, 'note_malformed'],
  ['no signature', `${text}\n`, 'note_malformed'],
  ['two blank lines', `${text}\n\n`, 'note_malformed'],
  ['no last newline', signed.slice(0, -1), 'note_malformed'],
  ['a tab', signed.replace('log', 'l\tg'), 'note_encoding'],
  ['a carriage return', signed.replaceAll('\n', '\r\n'), 'note_encoding'],
  ['a NUL', signed.replace('log', 'l\0g'), 'note_encoding'],
  ['half of a surrogate pair', signed.replace('log', 'l\ud800'), 'note_encoding'],
  ['bytes that are not UTF-8', Uint8Array.of(0xff, 0x0a, 0x0a), 'note_encoding'],
  ['a hyphen in place of the dash', signed.replace('—', '-'), 'note_signature_malformed'],
  ['no key name', `${text}\n—  AAAAAAA=\n`, 'note_signature_malformed'],
  ['a plus in the key name', `${text}\n— a+b AAAAAAA=\n`, 'note_signature_malformed'],
  ['a no-break space in the key name', `${text}\n— a\u00a0b AAAAAAA=\n`, 'note_signature_malformed'],
  ['three words', signed.replace(/\n$/u, ' more\n'), 'note_signature_malformed'],
  ['base64url', `${text}\n— a ____-_-_\n`, 'note_signature_malformed'],
  ['base64 without padding', `${text}\n— a AAAAAAA\n`, 'note_signature_malformed'],
  ['unused bits', `${text}\n— a AAAAAAB=\n`, 'note_signature_malformed'],
  ['a key id alone', `${text}\n— a AAAAAA==\n`, 'note_signature_malformed'],
  ['too many', `${text}\n${'— a AAAAAAA=\n'.repeat(MAXIMUM_SIGNATURES + 1)}`, 'note_signature_count'],
  ['too large', `${'x'.repeat(MAXIMUM_NOTE_BYTES)}\n\n— a AAAAAAA=\n`, 'note_size'],
  ['too large in UTF-8', `${'ü'.repeat(MAXIMUM_NOTE_BYTES / 2)}\n\n— a AAAAAAA=\n`, 'note_size'],
]

test('malformed notes are refused, each for its reason', () => {
  for (const [name, note, code] of malformed) assert.throws(() => parseNote(note), { code }, name)
  parseNote(`${text}\n${'— a AAAAAAA=\n'.repeat(MAXIMUM_SIGNATURES)}`)
})

test('the text of a note ends at its last blank line', async () => {
  const poem = 'one\n\ntwo\n\n\nthree\n'
  assert.equal(parseNote(await signNote(poem, [log])).text, poem)
})

test('malformed checkpoints are refused', () => {
  const root = text.split('\n')[2] as string
  const wrong = [
    `o\n3\n${root}`,
    `\n3\n${root}\n`,
    `o\n03\n${root}\n`,
    `o\n-1\n${root}\n`,
    `o\n+3\n${root}\n`,
    `o\n3 \n${root}\n`,
    `o\n9007199254740992\n${root}\n`,
    `o\n99999999999999999999\n${root}\n`,
    `o\n3\n${root.slice(0, -1)}\n`,
    `o\n3\nAAAA\n`,
    `o\n3\n${root}\n\n`,
    `o\n3\n`,
    '',
  ]
  for (const each of wrong) assert.throws(() => parseCheckpoint(each), { code: 'checkpoint_malformed' }, each)
  assert.equal(parseCheckpoint(`o\n3\n${root}\nan extension\n`).size, 3)
})

test('keys read back from their texts, and a text that was changed is refused', async () => {
  const vkey = formatVerifierKey(log.key)
  assert.deepEqual(parseVerifierKey(vkey), log.key)
  const secret = await formatSignerKey('log.example/one', ed25519, seed(1))
  assert.deepEqual((await parseSignerKey(secret)).key, log.key)
  for (let at = 0; at < vkey.length; at++) {
    const changed = `${vkey.slice(0, at)}${vkey[at] === 'a' ? 'b' : 'a'}${vkey.slice(at + 1)}`
    assert.throws(() => parseVerifierKey(changed), LogError, changed)
  }
  for (const wrong of ['', 'a', 'a+b', vkey.toUpperCase(), `${vkey}+`, `${'a'.repeat(5_000)}+00000000+AAAA`])
    assert.throws(() => parseVerifierKey(wrong), LogError, wrong)
  await assert.rejects(parseSignerKey(vkey), { code: 'key_malformed' })
  await assert.rejects(signNote(text, [witness]), { code: 'key_type' })
  await assert.rejects(cosignNote(signed, log, 1), { code: 'key_type' })
})

test('proofs and witness requests read back what was written', () => {
  const hash = fc.uint8Array({ minLength: 32, maxLength: 32 })
  const proof = fc.record({ index: fc.nat(), hashes: fc.array(hash, { maxLength: 63 }) })
  fc.assert(
    fc.property(proof, fc.option(fc.uint8Array({ maxLength: 40 })), ({ index, hashes }, extra) => {
      const written = { index, hashes, checkpoint: cosigned, ...(extra && { extra }) }
      assert.deepEqual(parseProof(formatProof(written)), written)
      const request = { oldSize: index, proof: hashes, checkpoint: cosigned }
      assert.deepEqual(parseWitnessRequest(formatWitnessRequest(request)), request)
    }),
  )
})

test('malformed proofs and witness requests are refused', () => {
  const whole = formatProof({ index: 7, hashes: [EMPTY_ROOT], checkpoint: cosigned })
  const hash = whole.split('\n')[2] as string
  const wrong = [
    '',
    whole.replace('v1', 'v2'),
    whole.replace('index 7', 'index 07'),
    whole.replace('index 7', 'index -7'),
    whole.replace('index 7\n', ''),
    whole.replace('index 7', 'extra ?\nindex 7'),
    whole.replace('index 7', 'extra AAAA\nextra AAAA\nindex 7'),
    whole.replace(hash, hash.slice(1)),
    whole.replace(hash, Array.from({ length: 64 }, () => hash).join('\n')),
    whole.slice(0, whole.indexOf('\n\n')),
    `${whole}${'x'.repeat(3 * MAXIMUM_NOTE_BYTES)}`,
  ]
  for (const each of wrong)
    assert.throws(() => parseProof(each), { code: 'proof_malformed' }, each.slice(0, 90))
  const request = formatWitnessRequest({ oldSize: 7, proof: [EMPTY_ROOT], checkpoint: cosigned })
  const requests = [
    '',
    request.replace('old 7', 'old 07'),
    request.replace('old', 'new'),
    request.replace(hash, 'x'),
  ]
  for (const each of requests)
    assert.throws(() => parseWitnessRequest(each), { code: 'witness_request_malformed' })
})

test('whatever a note holds, it is opened or refused with a reason', async () => {
  const hostile = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.uint8Array(),
    fc.string().map((part) => `${text}\n— ${part}\n`),
  )
  await fc.assert(
    fc.asyncProperty(hostile, async (content) => {
      await assert.rejects(openCheckpoint(content, [log.key, witness.key]), LogError)
    }),
  )
})
