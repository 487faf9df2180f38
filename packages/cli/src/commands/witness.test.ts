import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, writeFileSync } from 'node:fs'
import { request as httpsRequest } from 'node:https'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  formatVerifierKey,
  formatWitnessRequest,
  MAXIMUM_WITNESS_REQUEST_BYTES,
  noteSigner,
  openCheckpoint,
  parseVerifierKey,
  proveConsistency,
  SIGNATURE_TYPE,
  tileWidth,
  withSignatures,
  type TileName,
} from '@agent-exchange/log'
import { freePorts, logSigner, testAuthority, TestLog } from '@agent-exchange/testkit'
import { aexHere, aexRunning, fails, succeeds } from '../aex-here.fixture.ts'
import { temporaryFolder } from './agent/agents.fixture.ts'

const folder = temporaryFolder()
after(() => folder[Symbol.dispose]())
const LOG = formatVerifierKey(logSigner.key)
const leaf = (byte: number) => new Uint8Array(64).fill(byte)

/** A log of some size, whose leaves a fork may change. */
async function logOf(size: number, change?: number): Promise<TestLog> {
  const log = new TestLog()
  for (let at = 0; at < size; at++) log.leaves.push(leaf(at === change ? 200 : at))
  await log.publish()
  return log
}

async function bodyFor(log: TestLog, oldSize: number): Promise<string> {
  const readTile = async (name: TileName) => {
    const width = tileWidth(name, log.size)
    const path = `/log/tile/${name.level}/${String(name.index).padStart(3, '0')}.p/${width}`
    const reply = await log.answer(path)
    assert.ok(reply)
    return (reply.body as Uint8Array).subarray(0, name.width * 32)
  }
  const proof = oldSize > log.size ? [] : await proveConsistency(oldSize, log.size, readTile)
  return formatWitnessRequest({ oldSize, proof, checkpoint: log.checkpoint ?? '' })
}

async function post(url: string, body: string, path = '/add-checkpoint') {
  const answer = await fetch(`${url}${path}`, { method: 'POST', body })
  return { status: answer.status, type: answer.headers.get('content-type'), body: await answer.text() }
}

/** A running witness; its folder is made if need be. */
async function witness(name: string) {
  const dir = folder.path(name)
  const vkey = (await succeeds('witness', 'key', '--dir', dir, '--name', `${name}.example`)).trim()
  const [port = 0] = await freePorts(1)
  const running = aexRunning(
    'witness',
    'serve',
    '--dir',
    dir,
    '--origin',
    LOG,
    '--port',
    String(port),
    '--json',
  )
  await running.until(/listens at/u)
  const url = `http://127.0.0.1:${port}`
  assert.deepEqual(JSON.parse(running.printed()), { name: `${name}.example`, url })
  return { dir, vkey, url, running }
}

test('[AUD-03] it cosigns a log from the first checkpoint on, and again after a restart', async () => {
  const { dir, vkey, url, running } = await witness('honest')
  const log = await logOf(3)
  const first = await post(url, await bodyFor(log, 0))
  assert.equal(first.status, 200)
  const published = withSignatures(log.checkpoint ?? '', first.body.trimEnd().split('\n'))
  const { signatures } = await openCheckpoint(published, [logSigner.key, parseVerifierKey(vkey)])
  assert.equal(signatures.length, 2)
  assert.ok(Math.abs((signatures[1]?.time ?? 0) - Date.now() / 1_000) < 60)
  assert.equal((await post(url, await bodyFor(await logOf(9), 3))).status, 200)
  assert.equal((await post(url, await bodyFor(await logOf(9), 9))).status, 200, 'the same checkpoint again')
  await running.interrupt()
  assert.equal((await succeeds('witness', 'key', '--dir', dir)).trim(), vkey)
  const again = await witness('honest')
  const stale = await post(again.url, await bodyFor(await logOf(10), 3))
  assert.deepEqual(stale, { status: 409, type: 'text/x.tlog.size', body: '9\n' })
  assert.equal((await post(again.url, await bodyFor(await logOf(10), 9))).status, 200)
  await again.running.interrupt()
})

test('[AUD-03] every refusal of the standard, and none of them changes the state', async () => {
  const { url, running } = await witness('strict')
  assert.equal((await post(url, await bodyFor(await logOf(5), 0))).status, 200)
  const stranger = await noteSigner('unknown.example', SIGNATURE_TYPE.ed25519, leaf(1).subarray(32))
  const impostor = await noteSigner(logSigner.key.name, SIGNATURE_TYPE.ed25519, leaf(2).subarray(32))
  const signedBy = async (signer: typeof logSigner) => {
    const log = new TestLog({ signer })
    log.leaves.push(...(await logOf(6)).leaves)
    await log.publish()
    return bodyFor(log, 5)
  }
  const six = await bodyFor(await logOf(6), 5)
  const cases: [string, number, string][] = [
    ['no request', 400, 'old 5\n'],
    ['a request without a note', 400, 'old 5\n\nnothing'],
    ['a proof line that is no hash', 400, six.replace('old 5\n', 'old 5\nAAAA\n')],
    ['an old size above the size', 400, await bodyFor(await logOf(5), 6)],
    ['an unknown origin', 404, await signedBy(stranger)],
    ['another key under a known origin', 403, await signedBy(impostor)],
    ['a signature that does not fit', 403, six.replace(/\n6\n/u, '\n7\n')],
    ['a stale size', 409, await bodyFor(await logOf(6), 4)],
    ['a rollback', 409, await bodyFor(await logOf(4), 4)],
    ['another root of the same size', 409, await bodyFor(await logOf(5, 2), 5)],
    ['a fork', 422, await bodyFor(await logOf(6, 2), 5)],
    ['a proof with a hash too many', 422, six.replace('old 5\n', `old 5\n${'A'.repeat(43)}=\n`)],
    ['a body beyond the limit', 413, 'x'.repeat(MAXIMUM_WITNESS_REQUEST_BYTES + 1)],
  ]
  for (const [name, status, body] of cases) {
    const answer = await post(url, body)
    assert.equal(answer.status, status, name)
    assert.ok(!answer.body.includes('—'), `${name}: no cosignature`)
  }
  // Two roots of one size have no size to go on from.
  assert.notEqual((await post(url, await bodyFor(await logOf(5, 2), 5))).type, 'text/x.tlog.size')
  assert.equal((await post(url, six, '/')).status, 404)
  assert.equal((await fetch(`${url}/add-checkpoint`)).status, 405)
  assert.equal((await post(url, six)).status, 200, 'the state is what it was')
  await running.interrupt()
})

test('[AUD-03] of two forks at the same time, one is cosigned', async () => {
  const { url, running } = await witness('raced')
  assert.equal((await post(url, await bodyFor(await logOf(5), 0))).status, 200)
  const bodies = await Promise.all([7, 8, 9, 10].map(async (size) => bodyFor(await logOf(size, size - 1), 5)))
  const answers = await Promise.all(bodies.map((body) => post(url, body)))
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 409, 409, 409],
  )
  await running.interrupt()
})

test('[AUD-03] killed between the sync and the answer, it never cosigns another history', async () => {
  const { dir, url, running } = await witness('killed')
  assert.equal((await post(url, await bodyFor(await logOf(5), 0))).status, 200)
  await running.interrupt()
  const fixture = fileURLToPath(new URL('../witness/killed-witness.fixture.ts', import.meta.url))
  const child = spawn(process.execPath, ['-C', 'source', fixture, dir, LOG])
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  const ended = once(child, 'close')
  await assert.rejects(post(line.toString().trim(), await bodyFor(await logOf(7), 5)))
  assert.deepEqual(await ended, [null, 'SIGKILL'])
  const again = await witness('killed')
  const forked = await post(again.url, await bodyFor(await logOf(7, 6), 5))
  assert.deepEqual(forked, { status: 409, type: 'text/x.tlog.size', body: '7\n' })
  assert.equal((await post(again.url, await bodyFor(await logOf(7, 6), 7))).status, 409)
  assert.equal((await post(again.url, await bodyFor(await logOf(7), 7))).status, 200)
  await again.running.interrupt()
})

test('it listens on loopback or with TLS, under a key of its own that others cannot read', async () => {
  const dir = folder.path('guarded')
  const serve = ['witness', 'serve', '--dir', dir, '--origin', LOG]
  assert.match(await fails(...serve), /has no witness key/u)
  await succeeds('witness', 'key', '--dir', dir, '--name', 'guarded.example')
  assert.match(await fails(...serve, '--host', '0.0.0.0'), /reachable from other machines/u)
  assert.match(await fails(...serve, '--tls-cert', 'x'), /Give both/u)
  assert.match(await fails('witness', 'key', '--dir', dir, '--name', 'other.example'), /is guarded\.example/u)
  assert.match(await fails('witness', 'key', '--dir', folder.path('new'), '--name', 'a b'), /cannot be used/u)
  const wrong = await aexHere('witness', 'serve', '--dir', dir, '--origin', `other.example=${LOG}`)
  assert.match(wrong.stderr, /with the name of that key/u)
  chmodSync(`${dir}/witness-key`, 0o644)
  assert.match(await fails(...serve), /Other users can read/u)
  chmodSync(`${dir}/witness-key`, 0o600)
  writeFileSync(`${dir}/witness.db`, 'no database, but long enough to be read as one'.repeat(100))
  assert.match(await fails(...serve), /never start from an older copy/u)
})

test('with a certificate it answers over TLS', async () => {
  const authority = await testAuthority()
  const { certificate, key } = await authority.server()
  const [certFile, keyFile] = [folder.path('cert.pem'), folder.path('key.pem')]
  writeFileSync(certFile, certificate)
  writeFileSync(keyFile, key)
  const dir = folder.path('secure')
  await succeeds('witness', 'key', '--dir', dir, '--name', 'secure.example')
  const [port = 0] = await freePorts(1)
  const args = [
    '--dir',
    dir,
    '--origin',
    LOG,
    '--port',
    String(port),
    '--tls-cert',
    certFile,
    '--tls-key',
    keyFile,
  ]
  const running = aexRunning('witness', 'serve', ...args)
  await running.until(/https:\/\//u)
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  httpsRequest({ port, method: 'POST', path: '/add-checkpoint', rejectUnauthorized: false }, (response) => {
    text(response).then(resolve, reject)
  })
    .on('error', reject)
    .end(await bodyFor(await logOf(2), 0))
  assert.match(await promise, /^— secure\.example /u)
  await running.interrupt()
})
