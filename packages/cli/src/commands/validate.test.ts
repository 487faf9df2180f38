import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { exampleObjects, OBJECT_TYPES } from '@agent-exchange/protocol'
import { aexAt, aexHere } from '../aex-here.fixture.ts'
import { runAex } from '../aex-process.fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'aex-validate-'))
after(() => rmSync(folder, { recursive: true }))

function file(name: string, content: unknown): string {
  const path = join(folder, name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

test('[OBJ-18] aex validate takes the type from object_type and passes one valid object of each', async () => {
  const files = OBJECT_TYPES.map((type) => file(`${type}.json`, exampleObjects[type]))
  const { code, stdout, stderr } = await aexHere('validate', ...files)
  assert.deepEqual([code, stderr], [0, ''])
  for (const type of OBJECT_TYPES) assert.match(stdout, new RegExp(`✔ .*${type}`))
})

test('[OBJ-11] one invalid file among valid ones makes exit code 1 and says where, what and which rule', async () => {
  const bad = { ...exampleObjects.reasoning_package, confidence: { score: 2, basis: 'guess' } }
  const files = [file('good.json', exampleObjects.audit_event), file('bad.json', bad)]
  const { code, stdout } = await aexHere('validate', ...files)
  assert.equal(code, 1)
  assert.match(stdout, /\/confidence\/score Use a number of at most 1\. OBJ-11/)
  const asJson = await aexHere('validate', '--json', ...files)
  const report = JSON.parse(asJson.stdout)
  assert.equal(asJson.code, 1)
  assert.deepEqual(
    [report.valid, report.files[0].valid, report.files[1].failures[0].rule],
    [false, true, 'OBJ-11'],
  )
})

test('aex validate reads standard input', async () => {
  const { code, stdout } = await runAex(['validate', '-'], {
    input: JSON.stringify(exampleObjects.loop_thread),
  })
  assert.deepEqual([code, stdout], [0, '✔ - loop_thread\n'])
})

test('what cannot be judged is said in a sentence, without a stack trace', async () => {
  const cases: [path: string, says: RegExp][] = [
    [join(folder, 'missing.json'), /there is no such file/],
    [folder, /it is a folder/],
    [file('broken.json', '{"id": '), /is not usable JSON/],
    [file('twice.json', '{\n  "id": 1,\n  "id": 2\n}'), /line 3, column 3.*duplicate member name/],
    [file('latin1.json', Buffer.from([0x22, 0xe4, 0x22]).toString('latin1')), /object/],
    [file('list.json', []), /Give a JSON object/],
    [file('untyped.json', {}), /Set "object_type" to one of/],
  ]
  for (const [path, says] of cases) {
    const { code, stdout, stderr } = await aexHere('validate', path)
    assert.equal(code, 1, path)
    assert.match(stdout, says)
    assert.doesNotMatch(stdout + stderr, /^\s+at /m)
  }
})

test('a profile adds its own rules, and a bad profile is refused before anything is judged', async () => {
  const object = file('thread.json', exampleObjects.loop_thread)
  const strict = file('profile.json', {
    'O-01': { contradictions: [{ phase: 'responded', next: 'closed' }] },
  })
  const judged = await aexHere('validate', '--profile', strict, object)
  assert.equal(judged.code, 1)
  assert.match(judged.stdout, /O-01/)
  const badProfile = { env: { AEX_PROFILE: file('bad.json', { 'O-77': {} }) } }
  const refused = await aexAt(badProfile, 'validate', object)
  assert.deepEqual([refused.code, refused.stdout], [1, ''])
  assert.match(refused.stderr, /cannot be used:\n {2}\/O-77/)
})

test('[OBJ-04] --lines answers each line of standard input before it reads the next', async () => {
  const lines = [exampleObjects.audit_event, { ...exampleObjects.audit_event, hash: 'x' }].map((object) =>
    JSON.stringify(object),
  )
  const { code, stdout } = await runAex(['validate', '--lines'], { input: [...lines, 'no json'].join('\n') })
  const answers = stdout.trimEnd().split('\n')
  assert.deepEqual(
    answers.map((line) => (JSON.parse(line) as { valid: boolean }).valid),
    [true, false, false],
  )
  assert.equal(code, 1)
})
