import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startWorld, type World } from '@agent-exchange/testkit'
import { aexHere } from '../../aex-here.fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'aex-agent-'))
let world: World
before(async () => {
  world = await startWorld()
})
after(async () => {
  await world[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

const inFolder = (name: string) => join(folder, name)

async function aex(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await aexHere(...args)
  assert.equal(code, 0, `aex ${args.join(' ')}\n${stdout}${stderr}`)
  return stdout
}

async function fails(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await aexHere(...args)
  assert.equal(code, 1, `aex ${args.join(' ')} did not fail\n${stdout}`)
  assert.doesNotMatch(stderr, /^\s+at /m, 'a stack was shown')
  return stderr
}

async function newAgent(name: string, ...options: string[]): Promise<string> {
  const dir = inFolder(name)
  await aex('agent', 'init', '--org', `org_${name}`, '--agent', `agent_${name}`, '--dir', dir, ...options)
  await world.operate('POST', '/organizations', { organization_id: `org_${name}`, name })
  const { body } = await world.operate('POST', '/clients', {
    organization_id: `org_${name}`,
    public_jwk: JSON.parse(readFileSync(join(dir, 'client-public-key.json'), 'utf8')) as object,
  })
  await aex(
    'agent',
    'register',
    '--client',
    String(body['client_id']),
    '--url',
    world.url,
    '--dir',
    dir,
    ...options,
  )
  return dir
}

test('two agents complete package, receipts, response, revocation and evidence by the command line alone', async () => {
  const acme = await newAgent('acme')
  const bolt = await newAgent('bolt')
  assert.match(await aex('agent', 'doctor', '--dir', acme), /Everything is as it should be/)
  const fingerprint = (await aex('agent', 'fingerprint', '--dir', bolt)).trim()
  await aex('agent', 'trust', 'agent_bolt', fingerprint, '--dir', acme)

  const policy = inFolder('policy.json')
  await aex(
    'new',
    'policy_envelope',
    '--to',
    'org_bolt',
    '--policy-id',
    'pol_a',
    '--out',
    policy,
    '--dir',
    acme,
  )
  const file = inFolder('package.json')
  await aex(
    'new',
    'reasoning_package',
    '--to',
    'org_bolt',
    '--policy-id',
    'pol_a',
    '--out',
    file,
    '--dir',
    acme,
  )
  const sent = JSON.parse(
    await aex('agent', 'send', file, '--policy', policy, '--to', 'agent_bolt', '--dir', acme, '--json'),
  ) as { package_id: string; thread_id: string }

  assert.match(
    await aex('agent', 'inbox', '--dir', bolt),
    new RegExp(`package.accepted {2}${sent.package_id}`),
  )
  const out = inFolder('opened.json')
  await aex('agent', 'open', sent.package_id, '--out', out, '--dir', bolt)
  assert.equal(statSync(out).mode & 0o077, 0)
  assert.equal((JSON.parse(readFileSync(out, 'utf8')) as { id: string }).id, sent.package_id)

  const answerPolicy = inFolder('answer-policy.json')
  const answer = inFolder('answer.json')
  await aex(
    'new',
    'policy_envelope',
    '--to',
    'org_acme',
    '--policy-id',
    'pol_b',
    '--out',
    answerPolicy,
    '--dir',
    bolt,
  )
  const about = ['--about', sent.package_id, '--thread', sent.thread_id, '--policy-id', 'pol_b']
  await aex('new', 'response_object', '--to', 'org_acme', ...about, '--out', answer, '--dir', bolt)
  const response = JSON.parse(
    await aex('agent', 'respond', sent.package_id, answer, '--policy', answerPolicy, '--dir', bolt, '--json'),
  ) as { package_id: string }
  const opened = JSON.parse(await aex('agent', 'open', response.package_id, '--dir', acme)) as object
  assert.equal(Reflect.get(opened, 'responds_to_package_id'), sent.package_id)
  assert.match(await aex('agent', 'thread', sent.thread_id, '--dir', acme), /responded/)

  const second = inFolder('second.json')
  const inThread = ['--thread', sent.thread_id, '--policy-id', 'pol_a']
  await aex('new', 'reasoning_package', '--to', 'org_bolt', ...inThread, '--out', second, '--dir', acme)
  const mistake = JSON.parse(
    await aex('agent', 'send', second, '--policy', policy, '--dir', acme, '--json'),
  ) as { package_id: string }
  const reason = ['--reason-code', 'superseded', '--reason', 'A newer one follows.']
  assert.match(
    await aex('agent', 'revoke', mistake.package_id, ...reason, '--dir', acme),
    /nobody can fetch it any more/,
  )
  assert.match(await fails('agent', 'open', mistake.package_id, '--dir', bolt), /content_unavailable/)

  const evidence = inFolder('evidence.json')
  assert.match(
    await aex('agent', 'evidence', sent.thread_id, '--out', evidence, '--dir', bolt),
    /The evidence holds/,
  )
  assert.match(await aex('agent', 'evidence', '--verify', evidence), /The evidence holds/)
  const changed = readFileSync(evidence, 'utf8').replace('"superseded"', '"compromised"')
  writeFileSync(evidence, changed)
  const { code, stdout } = await aexHere('agent', 'evidence', '--verify', evidence)
  assert.deepEqual([code, /The evidence is broken/.test(stdout)], [1, true])
  assert.match(await aex('agent', 'peers', '--dir', acme), /agent_bolt\s+signing\s+\S+\s+fingerprint/)
})

test('what a person gets wrong is said in a sentence, and nothing is sent', async () => {
  const dir = inFolder('acme')
  assert.match(
    await fails('agent', 'token', '--dir', inFolder('nowhere')),
    /There is no agent in this folder/,
  )
  assert.match(
    await fails('agent', 'token', '--dir', dir, '--url', 'http://127.0.0.1:9'),
    /exchange_unreachable/,
  )
  assert.match(await fails('agent', 'token', '--dir', dir, '--client', 'client_none'), /token_refused/)

  const bad = inFolder('bad.json')
  const object = JSON.parse(readFileSync(inFolder('package.json'), 'utf8')) as {
    confidence: { score: number }
  }
  writeFileSync(bad, JSON.stringify({ ...object, confidence: { score: 2, basis: 'guess' } }))
  const policy = inFolder('policy.json')
  assert.match(
    await fails('agent', 'send', bad, '--policy', policy, '--to', 'agent_bolt', '--dir', dir),
    /\/confidence\/score .* OBJ-11/,
  )
  assert.match(
    await fails(
      'agent',
      'send',
      inFolder('package.json'),
      '--policy',
      policy,
      '--to',
      'agent_none',
      '--dir',
      dir,
    ),
    /resource_not_found/,
  )

  const strict = inFolder('strict.json')
  const given = JSON.parse(readFileSync(policy, 'utf8')) as { human_approval: object }
  writeFileSync(strict, JSON.stringify({ ...given, human_approval: { required: true, approval_id: 'a_1' } }))
  const fresh = inFolder('fresh.json')
  await aex(
    'new',
    'reasoning_package',
    '--to',
    'org_bolt',
    '--policy-id',
    'pol_a',
    '--out',
    fresh,
    '--dir',
    dir,
  )
  assert.match(
    await fails('agent', 'send', fresh, '--policy', strict, '--to', 'agent_bolt', '--dir', dir),
    /--approve REFERENCE/,
  )
  writeFileSync(strict, JSON.stringify({ ...given, allowed_recipients: ['org_other'] }))
  assert.match(
    await fails('agent', 'send', fresh, '--policy', strict, '--to', 'agent_bolt', '--dir', dir),
    /policy_refused[\s\S]*allowed_recipients[\s\S]*recipient_authorization/,
  )
})

test('keys behind a passphrase need it, and a wrong one is told apart', async () => {
  const passphrase = inFolder('passphrase')
  writeFileSync(passphrase, 'correct horse\n')
  const dir = await newAgent('locked', '--passphrase-file', passphrase)
  assert.match(await fails('agent', 'fingerprint', '--dir', dir), /key_store_locked/)
  writeFileSync(passphrase, 'wrong\n')
  assert.match(
    await fails('agent', 'fingerprint', '--dir', dir, '--passphrase-file', passphrase),
    /key_store_locked/,
  )
})
