import assert from 'node:assert/strict'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ExchangeError } from '../errors.ts'
import { createAgentFolder, openAgentFolder, setExchangeAccess } from './agent-folder.ts'
import { connectFolder } from './connect-folder.ts'
import { openSqliteOutbox } from './sqlite-outbox.ts'
import { ownFault, parentFault } from './private-folder.ts'

const root = mkdtempSync(join(tmpdir(), 'aex-private-'))
after(() => rmSync(root, { recursive: true }))
const identity = { organizationId: 'org_acme', agentId: 'agent_planner' }
let folders = 0

/** A folder two levels below the root of the test. */
async function agentBelow() {
  const parent = join(root, `parent-${(folders += 1)}`)
  mkdirSync(parent, { mode: 0o755 })
  const folder = join(parent, 'agent')
  const { files } = await createAgentFolder(folder, { identity })
  openSqliteOutbox(files.outbox).close()
  return { parent, folder, files }
}

const exposed = (path: string, sentence: RegExp) => (error: unknown) => {
  assert.ok(error instanceof ExchangeError, String(error))
  assert.equal(error.code, 'agent_folder_exposed', error.message)
  assert.equal(error.details['path'], path)
  assert.match(error.message, sentence)
  return true
}

test('an agent folder that others can write is refused by everything that opens it, and why is said', async () => {
  const { folder } = await agentBelow()
  for (const mode of [0o720, 0o702, 0o777, 0o1777]) {
    chmodSync(folder, mode)
    const refused = exposed(folder, /Others can write it: run "chmod go-w"/)
    await assert.rejects(openAgentFolder(folder), refused)
    await assert.rejects(connectFolder(folder), refused)
    await assert.rejects(setExchangeAccess(folder, { clientId: 'client_1' }), refused)
    await assert.rejects(createAgentFolder(folder, { identity }), refused)
  }
  for (const mode of [0o700, 0o750, 0o755]) {
    chmodSync(folder, mode)
    assert.deepEqual((await openAgentFolder(folder)).identity, identity)
  }
})

test('so is one with a file that others can write', async () => {
  const { folder, files } = await agentBelow()
  for (const file of [files.description, files.keys, files.clientPublicKey, files.outbox]) {
    chmodSync(file, 0o620)
    await assert.rejects(openAgentFolder(folder), exposed(file, /Others can write it/))
    chmodSync(file, 0o600)
  }
  await openAgentFolder(folder)
})

test('so is one in a folder where others could put another in its place; the sticky bit prevents that', async () => {
  const { parent, folder } = await agentBelow()
  chmodSync(parent, 0o777)
  await assert.rejects(openAgentFolder(folder), exposed(parent, /above it: run "chmod go-w" on it/))
  await assert.rejects(
    createAgentFolder(join(parent, 'new'), { identity }),
    exposed(parent, /keep the agent elsewhere/),
  )
  chmodSync(parent, 0o1777)
  await openAgentFolder(folder)
})

const isRoot = process.getuid?.() === 0

test(
  'what belongs to another user is refused',
  { skip: !isRoot && 'only root gives files away' },
  async () => {
    const { parent, folder, files } = await agentBelow()
    chownSync(files.description, 65_534, 65_534)
    await assert.rejects(openAgentFolder(folder), exposed(files.description, /another user \(65534\)/))
    chownSync(files.description, 0, 0)
    chownSync(folder, 65_534, 65_534)
    await assert.rejects(openAgentFolder(folder), exposed(folder, /change its owner/))
    chownSync(folder, 0, 0)
    chmodSync(parent, 0o775)
    await openAgentFolder(folder)
    chownSync(parent, 0, 65_534)
    await assert.rejects(openAgentFolder(folder), exposed(parent, /above it/))
  },
)

test('owners and groups, for any user', () => {
  const user = { uid: 1_000 }
  const own = (uid: number, mode: number) => ownFault({ uid, gid: 1_000, mode }, user)
  assert.equal(own(1_000, 0o40700), undefined)
  assert.equal(own(0, 0o40755), undefined)
  assert.match(own(1_001, 0o40700) ?? '', /another user/)
  assert.match(own(1_000, 0o40770) ?? '', /Others can write/)

  const above = (uid: number, gid: number, mode: number, by = user) => parentFault({ uid, gid, mode }, by)
  assert.equal(above(1_000, 1_000, 0o40775), undefined)
  assert.equal(above(0, 0, 0o41777), undefined)
  assert.match(above(1_000, 100, 0o40775) ?? '', /Others can write/)
  assert.match(above(1_001, 1_001, 0o40755) ?? '', /another user/)
  assert.equal(above(1_001, 1_001, 0o40755, { uid: 0 }), undefined)
  assert.match(above(1_001, 1_001, 0o40777, { uid: 0 }) ?? '', /Others can write/)
})
