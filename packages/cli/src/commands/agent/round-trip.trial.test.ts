import assert from 'node:assert/strict'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { startWorld, type World } from '@agent-exchange/testkit'
import { aexHere, documentOf, fails, succeeds as aex } from '../../aex-here.fixture.ts'
import { letIn, temporaryFolder } from './agents.fixture.ts'

const folder = temporaryFolder()
let world: World
before(async () => {
  // With a sequencer, because evidence waits for the transparency log.
  world = await startWorld({
    config: { role: 'all' },
    profile: {
      'O-07': { transparency_checkpoint_milliseconds: 100, transparency_sequence_milliseconds: 20 },
    },
  })
})
after(async () => {
  await world[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

const inFolder = (name: string) => folder.path(name)
const isPrivate = (file: string) => (statSync(file).mode & 0o077) === 0

async function newAgent(name: string, ...options: string[]): Promise<string> {
  const dir = inFolder(name)
  const who = ['--org', `org_${name}`, '--agent', `agent_${name}`, '--dir', dir]
  const made = await documentOf('agent', 'init', ...who, ...options)
  assert.equal(made['agent_id'], `agent_${name}`)
  assert.match(await fails('agent', 'init', ...who, ...options), /already holds an agent/)
  const client = ['--client', await letIn(world, name, dir), '--url', world.url]
  const registered = await documentOf('agent', 'register', ...client, '--dir', dir, ...options)
  assert.deepEqual(registered['skill_versions'], { skill_alignment: '1.0.0' })
  return dir
}

/** A file with a new object. */
async function drawn(type: string, name: string, ...options: string[]): Promise<string> {
  const file = inFolder(`${name}.json`)
  await aex('new', type, ...options, '--out', file)
  return file
}

interface Sent {
  readonly package_id: string
  readonly thread_id: string
}

test('two agents complete package, receipts, response, revocation and evidence by the command line alone', async () => {
  const acme = await newAgent('acme')
  const bolt = await newAgent('bolt')
  assert.match(await aex('agent', 'doctor', '--dir', acme), /Everything is as it should be/)
  const fingerprint = (await aex('agent', 'fingerprint', '--dir', bolt)).trim()
  await aex('agent', 'trust', 'agent_bolt', fingerprint, '--dir', acme)

  const toBolt = ['--to', 'org_bolt', '--policy-id', 'pol_a', '--dir', acme]
  const policy = await drawn('policy_envelope', 'policy', ...toBolt)
  const file = await drawn('reasoning_package', 'package', ...toBolt)
  const send = ['agent', 'send', file, '--policy', policy, '--to', 'agent_bolt', '--dir', acme]
  const sent = await documentOf<Sent>(...send)
  const { warnings } = JSON.parse(JSON.stringify(sent)) as { warnings: { pointer: string }[] }
  assert.ok(warnings.some(({ pointer }) => pointer === '/reasoning/summary'))
  // Sent again, it is the same package.
  assert.deepEqual({ ...(await documentOf(...send)), resumed: false }, { ...sent, resumed: false })

  for (const command of ['inbox', 'inbox', 'receive'])
    assert.match(
      await aex('agent', command, '--dir', bolt),
      new RegExp(`package.accepted {2}${sent.package_id}`),
    )
  // Opened over a file that others could read.
  const out = inFolder('opened.json')
  writeFileSync(out, '', { mode: 0o644 })
  const opened = await documentOf('agent', 'open', sent.package_id, '--out', out, '--dir', bolt)
  assert.deepEqual([opened['file'], opened['object'], isPrivate(out)], [out, undefined, true])
  assert.deepEqual(
    (opened['receipts'] as { state: string }[]).map(({ state }) => state),
    ['received', 'opened'],
  )
  assert.equal((JSON.parse(readFileSync(out, 'utf8')) as { id: string }).id, sent.package_id)

  const about = ['--about', sent.package_id, '--thread', sent.thread_id]
  const toAcme = ['--to', 'org_acme', '--policy-id', 'pol_b', '--dir', bolt]
  const answerPolicy = await drawn('policy_envelope', 'answer-policy', ...toAcme)
  const answer = await drawn('response_object', 'answer', ...about, ...toAcme)
  const respond = ['agent', 'respond', sent.package_id, answer, '--policy', answerPolicy, '--dir', bolt]
  const response = await documentOf<Sent>(...respond)
  const read = JSON.parse(await aex('agent', 'open', response.package_id, '--dir', acme)) as object
  assert.equal(Reflect.get(read, 'responds_to_package_id'), sent.package_id)
  assert.match(await aex('agent', 'thread', sent.thread_id, '--dir', acme), /responded/)

  // The answer is answered, and that one too.
  let last = response.package_id
  for (const [round, [by, terms, under]] of [
    [acme, toBolt, policy],
    [bolt, toAcme, answerPolicy],
    [acme, toBolt, policy],
  ].entries() as ArrayIterator<[number, [string, string[], string]]>) {
    const next = ['--about', last, '--thread', sent.thread_id, ...terms]
    const reply = await drawn('response_object', `round-${round}`, ...next)
    const answered = await documentOf<Sent>('agent', 'respond', last, reply, '--policy', under, '--dir', by)
    assert.match(answered.package_id, /^pkg_/u)
    last = answered.package_id
    const other = by === acme ? bolt : acme
    const shown = await documentOf('agent', 'open', last, '--dir', other)
    assert.deepEqual(
      [shown['package_id'], shown['object_id']],
      [last, Reflect.get(shown['object'] as object, 'id')],
    )
    assert.notEqual(shown['object_id'], shown['package_id'])
  }
  const thread = await documentOf('agent', 'thread', sent.thread_id, '--dir', bolt)
  assert.deepEqual([thread['transport_mode'], (thread['packages'] as object[]).length], ['native', 5])

  const inThread = ['--thread', sent.thread_id, ...toBolt]
  const second = await drawn('reasoning_package', 'second', ...inThread)
  const mistake = await documentOf<Sent>('agent', 'send', second, '--policy', policy, '--dir', acme)
  const reason = ['--reason-code', 'superseded', '--reason', 'A newer one follows.']
  const revoke = ['agent', 'revoke', mistake.package_id, ...reason, '--dir', acme]
  assert.match(await aex(...revoke), /nobody can fetch it any more/)
  const again = await documentOf(...revoke)
  assert.deepEqual([again['already_revoked'], again['future_access_blocked']], [true, true])
  assert.match(await fails('agent', 'open', mistake.package_id, '--dir', bolt), /content_unavailable/)

  const evidence = inFolder('evidence.json')
  assert.match(
    await aex('agent', 'evidence', sent.thread_id, '--out', evidence, '--dir', bolt, '--wait', '0'),
    /^Consistent, but not proven: org_acme sent the first of 6 packages to org_bolt /,
  )
  assert.ok(isPrivate(evidence))
  assert.match(await aex('agent', 'evidence', '--verify', evidence), /^Consistent, but not proven: /)
  const one = await documentOf<{ report: { word: string } }>(
    'agent',
    'evidence',
    sent.package_id,
    '--dir',
    acme,
  )
  assert.equal(one.report.word, 'consistent')
  const changed = readFileSync(evidence, 'utf8').replace('"superseded"', '"compromised"')
  writeFileSync(evidence, changed)
  const { code, stdout } = await aexHere('agent', 'evidence', '--verify', evidence)
  assert.deepEqual([code, stdout.startsWith('Broken: ')], [1, true])
  assert.match(await aex('agent', 'peers', '--dir', acme), /agent_bolt\s+signing\s+\S+\s+fingerprint/)
})

test('a file without evidence is distinguished from broken evidence', async () => {
  const file = inFolder('none.json')
  for (const text of ['', 'null', '"x"', '7', '{"a":1,"a":2}']) {
    writeFileSync(file, text)
    assert.match(await fails('agent', 'evidence', '--verify', file), /holds no evidence that can be read/)
  }
  assert.match(await fails('agent', 'evidence', '--verify', inFolder('absent')), /holds no evidence/)
  assert.match(
    await fails('agent', 'evidence'),
    /Give the id of a package or a thread\. To verify a file: aex verify FILE/,
  )
  for (const text of ['{}', '[]', '{"format":"aex-evidence/1","packages":[null]}']) {
    writeFileSync(file, text)
    const { code, stdout } = await aexHere('agent', 'evidence', '--verify', file)
    assert.deepEqual([code, stdout.startsWith('Unreadable: ')], [1, true], text)
  }
})

test('what a person gets wrong is said in a sentence, and nothing is sent', async () => {
  const dir = inFolder('acme')
  const token = ['agent', 'token', '--dir']
  assert.match(await fails(...token, inFolder('nowhere')), /There is no agent in this folder/)
  assert.match(await fails(...token, dir, '--url', 'http://127.0.0.1:9'), /exchange_unreachable/)
  assert.match(await fails(...token, dir, '--client', 'client_none'), /token_refused/)
  assert.match(await fails(...token, dir, '--ca', inFolder('none.pem')), /cannot be read\. Give a PEM file/)

  const [good, policy, bad, strict] = ['package', 'policy', 'bad', 'strict'].map((name) =>
    inFolder(`${name}.json`),
  ) as [string, string, string, string]
  const send = (file: string, under: string, to = 'agent_bolt') =>
    fails('agent', 'send', file, '--policy', under, '--to', to, '--dir', dir)
  const object = JSON.parse(readFileSync(good, 'utf8')) as object
  writeFileSync(bad, JSON.stringify({ ...object, confidence: { score: 2, basis: 'guess' } }))
  assert.match(await send(bad, policy), /\/confidence\/score .* OBJ-11/)
  assert.match(await send(policy, good), /package\.json is a reasoning_package; give a policy_envelope\./)
  assert.match(await send(inFolder('absent'), policy), /there is no such file/)
  assert.match(
    await send(good, policy, 'agent_none'),
    /There is no agent "agent_none" \(correlation id corr_\w+\)/,
  )

  const given = JSON.parse(readFileSync(policy, 'utf8')) as object
  writeFileSync(strict, JSON.stringify({ ...given, human_approval: { required: true, approval_id: 'a_1' } }))
  const terms = ['--to', 'org_bolt', '--policy-id', 'pol_a', '--dir', dir]
  const fresh = await drawn('reasoning_package', 'fresh', ...terms)
  assert.match(await send(fresh, strict), /--approve REFERENCE/)
  writeFileSync(strict, JSON.stringify({ ...given, allowed_recipients: ['org_other'] }))
  assert.match(
    await send(fresh, strict),
    /policy_refused\)\n {2}recipient_authorization: \/policy\/allowed_recipients {2}The .*\n {2}packageId/,
  )
  assert.equal(await aex('agent', 'resume', '--dir', dir), 'Nothing is waiting.\n')
})

test('encrypted keys need the passphrase, and a wrong one is reported', async () => {
  const passphrase = inFolder('passphrase')
  const given = ['--passphrase-file', passphrase]
  writeFileSync(passphrase, 'correct horse\n')
  const dir = await newAgent('locked', ...given)
  assert.match(await fails('agent', 'fingerprint', '--dir', dir), /key_store_locked/)
  writeFileSync(passphrase, 'wrong\n')
  assert.match(await fails('agent', 'fingerprint', '--dir', dir, ...given), /key_store_locked/)
  writeFileSync(passphrase, '\n')
  assert.match(await fails('agent', 'token', '--dir', dir, ...given), /The passphrase is empty/)
  assert.match(
    await fails('agent', 'token', '--dir', dir, '--passphrase-file', inFolder('absent')),
    /cannot be read/,
  )
})

test('a skill that is named takes the place of the default', async () => {
  const skills = ['--skill', 'skill_a@2.0.0', '--skill', 'skill_b@1.1.0', '--dir', inFolder('acme')]
  const { skill_versions } = await documentOf('agent', 'register', ...skills)
  assert.deepEqual(skill_versions, { skill_a: '2.0.0', skill_b: '1.1.0' })
})
