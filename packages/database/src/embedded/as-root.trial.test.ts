import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { preparePlace } from './place.ts'
import { installedPackage, prepareRuntime } from './runtime.ts'
import { canEnter } from './server-user.ts'
import { startEmbedded } from './start-embedded.ts'
import { holdDatabase, testFolder } from './test-folder.fixture.ts'
import { isAlive } from './processes.ts'
import { waitUntil } from './wait-until.ts'

const skip =
  process.platform === 'linux' && process.getuid?.() === 0
    ? false
    : 'only root on Linux drops to another user'
const settings = { fsync: 'off' }

test('root drops to another user, who owns the database folder and nothing else', { skip }, async () => {
  using folder = testFolder()
  await using server = await startEmbedded({ dataDirectory: folder.data, log: () => undefined, settings })
  assert.equal(statSync(`/proc/${server.pid()}`).uid, 65_534)
  assert.equal(statSync(server.location).uid, 65_534)
  assert.equal(statSync(folder.data).uid, 0)
  assert.equal(statSync(join(folder.data, 'postgres-password')).uid, 0)
})

test('a data folder behind closed doors keeps its database in another durable place', { skip }, async (t) => {
  using folder = testFolder()
  chmodSync(folder.path, 0o700)
  const lines: string[] = []
  const start = () => startEmbedded({ dataDirectory: folder.data, log: (line) => lines.push(line), settings })
  const locations: string[] = []
  for (const round of [1, 2]) {
    await using server = await start()
    locations.push(server.location)
    assert.equal(lines.filter((line) => line.includes('cannot reach')).length, 1, `start ${round}`)
  }
  const elsewhere = readFileSync(join(folder.data, 'postgres-location'), 'utf8').trim()
  t.after(() => rmSync(elsewhere, { recursive: true, force: true }))
  assert.deepEqual(locations, Array(2).fill(join(elsewhere, 'cluster')))
  rmSync(elsewhere, { recursive: true })
  await assert.rejects(start(), /which is gone\. Bring that folder back/u)
})

test(
  'a database that its user can no longer reach is refused, never replaced by an empty one',
  { skip },
  async () => {
    using folder = testFolder()
    mkdirSync(join(folder.data, 'postgres', 'cluster'), { recursive: true })
    chmodSync(folder.path, 0o700)
    await assert.rejects(
      startEmbedded({ dataDirectory: folder.data, log: () => undefined, settings }),
      /can no longer reach .*chmod o\+x/u,
    )
    assert.ok(!existsSync(join(folder.data, 'postgres-location')))
  },
)

test('programs that the user cannot read, without library links, are copied and linked', { skip }, () => {
  using folder = testFolder()
  const closed = join(folder.path, 'closed')
  const { native, packageVersion } = installedPackage()
  cpSync(native, join(closed, 'native'), { recursive: true, verbatimSymlinks: true })
  for (const name of readdirSync(join(closed, 'native', 'lib'))) {
    const path = join(closed, 'native', 'lib', name)
    if (lstatSync(path).isSymbolicLink()) rmSync(path)
  }
  mkdirSync(folder.data, { mode: 0o711 })
  const place = preparePlace(folder.data, () => undefined)
  const copied = () =>
    prepareRuntime(place, () => undefined, { native: join(closed, 'native'), packageVersion }).bin
  // Missing links alone are enough.
  assert.ok(copied().startsWith(place.folder))
  rmSync(place.folder, { recursive: true })
  const again = preparePlace(folder.data, () => undefined)
  chmodSync(closed, 0o700)
  assert.equal(copied(), join(again.folder, `runtime-${packageVersion}-${process.arch}`, 'bin'))
})

test('an ordinary user starts it as itself, and root later serves that same folder', { skip }, async (t) => {
  // daemon: initdb wants a user that the system knows.
  const user = { uid: 1, gid: 1 }
  if (!canEnter(import.meta.dirname, user) || !canEnter(join(process.execPath, '..'), user)) {
    return t.skip('this checkout is closed to other users')
  }
  using folder = testFolder()
  mkdirSync(folder.data)
  chownSync(folder.data, user.uid, user.gid)
  const { holder, pid, refused } = await holdDatabase(folder.data, user)
  assert.equal(refused, undefined)
  assert.equal(statSync(`/proc/${pid}`).uid, user.uid)
  holder.stdin.write('exit')
  await once(holder, 'exit')
  assert.ok(await waitUntil(() => !isAlive(pid), 10_000))
  await using server = await startEmbedded({ dataDirectory: folder.data, log: () => undefined, settings })
  assert.equal(statSync(`/proc/${server.pid()}`).uid, user.uid)
})
