import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { rejectsWith } from './contract-suite.fixture.ts'
import { openDataAddressFolder } from './data-address-host.ts'
import { startDataAddressServer } from './data-address-server.ts'
import type { HostedAddress } from './data-address.ts'

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'data-address-'))
  t.after(() => rm(path, { recursive: true, force: true }))
  return path
}

function get({ url, headerName, headerValue }: HostedAddress, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers)
  headers.set(headerName, headerValue)
  return fetch(url, { ...init, headers })
}

for (const kind of ['memory', 'folder'])
  test(`in ${kind}: exact bytes for the data plane, 410 after withdrawal, for ever`, async (t) => {
    const options = kind === 'folder' ? { folder: await folder(t) } : {}
    await using server = await startDataAddressServer(options)
    const bytes = randomBytes(70_000)
    const address = await server.put('asset-1', bytes)
    const answer = await get(address)
    assert.deepEqual(Buffer.from(await answer.arrayBuffer()), bytes)
    assert.equal(answer.headers.get('content-length'), '70000')
    assert.equal(answer.headers.get('cache-control'), 'no-store')
    const head = await get(address, { method: 'HEAD' })
    assert.deepEqual([head.status, head.headers.get('content-length'), await head.text()], [200, '70000', ''])
    assert.deepEqual(await server.put('asset-1', bytes), address)
    await rejectsWith('conflict', server.put('asset-1', randomBytes(5)))
    await server.withdraw('asset-1')
    assert.equal((await get(address)).status, 410)
    await server.withdraw('asset-1')
    await rejectsWith('withdrawn', server.put('asset-1', bytes))
    await server.withdraw('never-put')
    await rejectsWith('withdrawn', server.put('never-put', bytes))
  })

test('a program that only has the folder publishes and withdraws through a server that runs elsewhere', async (t) => {
  const path = await folder(t)
  await using server = await startDataAddressServer({ folder: path })
  const host = await openDataAddressFolder(path, `${server.url}/`)
  const bytes = randomBytes(900)
  const address = await host.put('asset-1', bytes)
  assert.deepEqual(Buffer.from(await (await get(address)).arrayBuffer()), bytes)
  assert.equal(await host.withdraw('asset-1'), true)
  assert.equal((await get(address)).status, 410)
  await rejectsWith('too_large', host.put('asset-2', new Uint8Array(32_000_001)))
})

test('a client without the secret gets nothing and learns nothing', async () => {
  await using server = await startDataAddressServer()
  const address = await server.put('asset-1', randomBytes(9))
  await server.withdraw('gone')
  const wrong = { ...address, headerValue: `${address.headerValue.slice(0, -1)}!` }
  for (const url of [address.url, `${server.url}/assets/none`, `${server.url}/assets/gone`])
    for (const answer of [
      await fetch(url),
      await get({ ...wrong, url }),
      await get({ ...wrong, url, headerValue: '' }),
    ])
      assert.deepEqual([answer.status, await answer.text()], [403, ''])
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])
    assert.equal((await get(address, { method })).status, 405)
  for (const path of ['/', '/assets/', '/assets/..%2f..%2fetc%2fpasswd', '/assets/%E0%A4%A', '/assets/a/b'])
    assert.equal((await get({ ...address, url: `${server.url}${path}` })).status, 404)
  assert.equal((await get(address, { headers: { range: 'bytes=0-1' } })).status, 200)
})

test('only listed addresses are answered, where there is a list', async () => {
  const served = async (allow: readonly string[]) => {
    await using server = await startDataAddressServer({ allow })
    return (await get(await server.put('a', randomBytes(3)))).status
  }
  assert.equal(await served(['127.0.0.0/8']), 200)
  assert.equal(await served(['127.0.0.1', '::1']), 200)
  assert.equal(await served(['10.0.0.0/8', '2001:db8::/32']), 403)
  await rejectsWith('invalid_input', startDataAddressServer({ allow: ['everyone'] }))
})

test('a restart keeps bytes, withdrawals and the secret, readable by nobody else', async (t) => {
  const path = join(await folder(t), 'outgoing')
  const bytes = randomBytes(100)
  let address: HostedAddress
  {
    await using server = await startDataAddressServer({ folder: path })
    address = await server.put('kept', bytes)
    await server.put('withdrawn', bytes)
    await server.withdraw('withdrawn')
  }
  const port = Number(new URL(address.url).port)
  await using _ = await startDataAddressServer({ folder: path, port })
  assert.deepEqual(Buffer.from(await (await get(address)).arrayBuffer()), bytes)
  assert.equal((await get({ ...address, url: address.url.replace('kept', 'withdrawn') })).status, 410)
  const files = await readdir(path)
  assert.equal(files.length, 3)
  for (const file of files) assert.equal((await stat(join(path, file))).mode & 0o077, 0)
})

test('beyond loopback it needs TLS, and it has a largest size', async () => {
  await rejectsWith('invalid_input', startDataAddressServer({ host: '0.0.0.0' }))
  await using server = await startDataAddressServer()
  await rejectsWith('too_large', server.put('big', new Uint8Array(32_000_001)))
})
