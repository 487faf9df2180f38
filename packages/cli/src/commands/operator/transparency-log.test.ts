import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { startWorld } from '@agent-exchange/testkit'
import { aexHere as aex, documentOf as json, fails } from '../../aex-here.fixture.ts'

const profile = {
  'O-07': { transparency_checkpoint_milliseconds: 100, transparency_sequence_milliseconds: 20 },
}
const world = await startWorld({ profile, config: { role: 'all' } })
const folder = await mkdtemp(join(tmpdir(), 'aex-log-cli-'))
after(async () => {
  await rm(folder, { recursive: true })
  await world[Symbol.asyncDispose]()
})
const created = await world.operate('POST', '/operators', { name: 'cli', role: 'administrator' })
await writeFile(join(folder, 'operator-token'), `${String(created.body['token'])}\n`)
Object.assign(process.env, {
  AEX_OPERATOR_URL: world.operatorUrl,
  AEX_OPERATOR_TOKEN: '',
  AEX_OPERATOR_PORT: '',
  AEX_OPERATOR_HOST: '',
  AEX_TLS_CERT: '',
  AEX_DATA_DIR: folder,
})

async function statusWhen(isThere: (status: Record<string, unknown>) => boolean) {
  for (let tries = 0; tries < 200; tries++) {
    const status = await json('log', 'status')
    if (isThere(status)) return status
    await new Promise((resolve) => void setTimeout(resolve, 50))
  }
  throw new Error('the log did not reach the expected state')
}

test('aex log status shows size, delay and state; a running log cannot be recovered', async () => {
  await world.organization('acme')
  const status = await statusWhen(
    ({ size, published_size, pending_leaves }) =>
      Number(size) > 0 && published_size === size && pending_leaves === 0,
  )
  assert.equal(status['state'], 'running')
  const table = await aex('log', 'status')
  assert.match(table.stdout, /running/u)
  assert.deepEqual(status['witnesses'], [])
  assert.match(table.stdout, /none: nobody outside confirms this log/u)
  const refused = await aex('log', 'recover', '--mirror', folder, '--reason', 'test')
  assert.notEqual(refused.code, 0)
  assert.match(refused.stderr, /running/u)
})

test('aex log recover wants a mirror or a new origin, and a reason', async () => {
  for (const args of [[], ['--mirror', folder, '--new-origin', 'other.example/log']]) {
    const { code, stderr } = await aex('log', 'recover', '--reason', 'test', ...args)
    assert.notEqual(code, 0)
    assert.match(stderr, /Give either --mirror or --new-origin/u)
  }
  const { code, stderr } = await aex('log', 'recover', '--mirror', folder)
  assert.notEqual(code, 0)
  assert.match(stderr, /--reason/u)
})

test('aex log recover names a file that it cannot read', async () => {
  const missing = join(folder, 'missing')
  for (const [options, name] of [
    [['--new-origin', 'other.example/log', '--checkpoint', missing], 'checkpoint'],
    [['--mirror', folder, '--mirror-token-file', missing], 'mirror token'],
  ] as const)
    assert.equal(
      await fails('log', 'recover', '--reason', 'test', ...options),
      `The ${name} file ${missing} cannot be read.\n`,
    )
})

test('aex log recover sends the token of a file to the mirror, and prints it nowhere', async () => {
  const asked: (string | undefined)[] = []
  const server = createServer(({ headers }, response) => {
    asked.push(headers.authorization)
    response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const tokenFile = join(folder, 'mirror-token')
  await writeFile(tokenFile, 'mirror-secret\n')
  await world.sql`update log_state set refusal = '{"reason":"behind_checkpoint_file","known_size":9,"own_size":4}'`
  const options = ['--mirror', address, '--mirror-token-file', tokenFile, '--reason', 'test']
  const { code, stdout, stderr } = await aex('log', 'recover', ...options)
  server.close()
  assert.notEqual(code, 0)
  assert.deepEqual(asked, ['Bearer mirror-secret'])
  assert.match(stderr, /The mirror answers 404 for checkpoint/u)
  assert.doesNotMatch(`${stdout}${stderr}${world.logged.join('')}`, /mirror-secret/u)
})

test('aex log recover --new-origin starts a new log, which the status shows', async () => {
  const answer = await json(
    'log',
    'recover',
    '--new-origin',
    'acme.example/log-2',
    '--reason',
    'key was stolen',
  )
  assert.equal(answer['origin'], 'acme.example/log-2')
  const status = await statusWhen((each) => each['state'] === 'running' && each['pending_leaves'] === 0)
  assert.equal(status['origin'], 'acme.example/log-2')
  const { items } = await json('operator', 'log', '--target', 'transparency_log')
  const [entry] = items as Record<string, unknown>[]
  assert.deepEqual([entry?.['action'], entry?.['reason']], ['transparency_log.new_origin', 'key was stolen'])
  const keys = (await json('keys', 'list', '--purpose', 'log'))['keys'] as { status: string }[]
  assert.deepEqual(keys.map(({ status: each }) => each).toSorted(), ['active', 'revoked'])
})
