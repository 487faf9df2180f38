import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { publishDeskAddress, readDeskAddress } from './desk-address.ts'

const folder = mkdtempSync(join(tmpdir(), 'aex-desk-address-'))
after(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'desk.json')

test('the address of a running desk is in a private file, and is removed at the end', async () => {
  assert.equal(await readDeskAddress(file), undefined)
  {
    await using published = await publishDeskAddress(file, 4_100)
    assert.equal(await readDeskAddress(file), 'http://127.0.0.1:4100/')
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.ok(published)
  }
  assert.equal(existsSync(file), false)
})

test('a desk that ends leaves the address of a later desk', async () => {
  const first = await publishDeskAddress(file, 4_100)
  const second = await publishDeskAddress(file, 4_101)
  await first[Symbol.asyncDispose]()
  assert.equal(await readDeskAddress(file), 'http://127.0.0.1:4101/')
  await second[Symbol.asyncDispose]()
  assert.equal(existsSync(file), false)
})

test('an address of a dead desk, of another host, or in a file that others can read is ignored', async () => {
  await using published = await publishDeskAddress(file, 4_100)
  assert.ok(published)
  const good = JSON.parse(readFileSync(file, 'utf8')) as object
  const dead = spawnSync(process.execPath, ['--version']).pid
  for (const changed of [
    { ...good, process_id: dead },
    { ...good, process_id: 0 },
    { ...good, process_id: -1 },
    { ...good, address: 'http://127.0.0.1:4100.evil.example/' },
    { ...good, address: 'http://127.0.0.1:4100/enter?link=secret' },
    { ...good, address: 'http://evil.example:4100/' },
  ]) {
    writeFileSync(file, JSON.stringify(changed))
    assert.equal(await readDeskAddress(file), undefined, JSON.stringify(changed))
  }
  writeFileSync(file, '{')
  assert.equal(await readDeskAddress(file), undefined)
  writeFileSync(file, JSON.stringify(good))
  assert.equal(await readDeskAddress(file), 'http://127.0.0.1:4100/')
  if (process.platform !== 'win32') {
    chmodSync(file, 0o644)
    assert.equal(await readDeskAddress(file), undefined)
  }
})
