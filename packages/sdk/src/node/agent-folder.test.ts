import assert from 'node:assert/strict'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, test } from 'node:test'
import { startWorld } from '@agent-exchange/testkit'
import { provision, startAgent } from '../agents.fixture.ts'
import { registerAgent } from '../agent-keys/register-agent.ts'
import { randomId } from '../connection/random-id.ts'
import { createContext } from '../create-context.ts'
import { ExchangeError } from '../errors.ts'
import { connectFolder } from './connect-folder.ts'
import { adoptAgentFolder, createAgentFolder, openAgentFolder, setExchangeAccess } from './agent-folder.ts'
import { isCopied } from './folder-place.ts'

const root = mkdtempSync(join(tmpdir(), 'aex-agents-'))
after(() => rmSync(root, { recursive: true }))
let folders = 0
const freshFolder = () => join(root, `agent-${(folders += 1)}`)
const identity = { organizationId: 'org_acme', agentId: 'agent_planner' }
const quick = { passphrase: 'a passphrase', cost: { n: 1_024, r: 8, p: 1 } }
const code = (expected: string) => (error: unknown) => {
  assert.ok(error instanceof ExchangeError, String(error))
  assert.equal(error.code, expected, error.message)
  return true
}

test('the description of an agent contains public data only', async () => {
  const folder = freshFolder()
  const made = await createAgentFolder(folder, { identity, ...quick })
  assert.equal(statSync(folder).mode & 0o777, 0o700)
  assert.deepEqual(JSON.parse(readFileSync(made.files.clientPublicKey, 'utf8')), made.made.client.publicJwk)
  assert.deepEqual(JSON.parse(readFileSync(made.files.description, 'utf8')), {
    format: 'aex-agent',
    version: 1,
    organization_id: 'org_acme',
    agent_id: 'agent_planner',
  })
  const opened = await openAgentFolder(folder, quick)
  assert.deepEqual(opened.identity, identity)
  assert.equal(opened.clientId, undefined)
  assert.deepEqual(await opened.keys.list(), Object.values(made.made))
  assert.deepEqual(await opened.pins.list(), [])
  for (const name of readdirSync(folder)) {
    assert.doesNotMatch(readFileSync(join(folder, name), 'latin1'), /"d"\s*:/)
  }
})

test('git ignores the folder of an agent, also of one that was made before', async () => {
  const folder = freshFolder()
  const { files } = await createAgentFolder(folder, {
    identity,
    baseUrl: 'http://127.0.0.1:9',
    clientId: 'c',
  })
  const ignored = () => readFileSync(files.gitignore, 'utf8')
  assert.equal(ignored(), '*\n')
  rmSync(files.gitignore)
  await openAgentFolder(folder)
  assert.throws(ignored, /ENOENT/, 'reading an agent writes nothing')
  await using _ = await connectFolder(folder, { lazily: true })
  assert.equal(ignored(), '*\n')
  writeFileSync(files.gitignore, 'own\n')
  await setExchangeAccess(folder, { clientId: 'client_2' })
  assert.equal(ignored(), 'own\n')
})

test('a copied folder is refused until it is adopted, and an older or moved folder is not', async () => {
  const folder = freshFolder()
  const access = { baseUrl: 'http://127.0.0.1:9', clientId: 'c' }
  const { files } = await createAgentFolder(folder, { identity, ...access })
  const connecting = async (path: string) => {
    await using _ = await connectFolder(path, { lazily: true })
  }
  await connecting(folder)
  const copy = freshFolder()
  cpSync(folder, copy, { recursive: true })
  await assert.rejects(connecting(copy), (error: Error) => {
    assert.match(error.message, /copy.*`aex agent adopt`/)
    return code('agent_folder_copied')(error)
  })
  assert.equal(await adoptAgentFolder(copy), true)
  await connecting(copy)
  assert.equal(await adoptAgentFolder(copy), false)
  await connecting(folder)

  const moved = freshFolder()
  renameSync(folder, moved)
  await connecting(moved)
  rmSync(join(moved, basename(files.place)))
  await connecting(moved)
  assert.deepEqual(readdirSync(moved).includes(basename(files.place)), true)
  await assert.rejects(adoptAgentFolder(root), code('agent_folder_missing'))
  writeFileSync(join(moved, basename(files.place)), '{}')
  await assert.rejects(connecting(moved), code('agent_folder_unreadable'))
})

test('a disk that got another number is not a copy, an equal inode on another disk is', () => {
  const recorded = { device: '2049', inode: '12', born: '1700000000000000000' }
  assert.equal(isCopied(recorded, recorded), false)
  assert.equal(isCopied(recorded, { ...recorded, device: '2050' }), false)
  assert.equal(isCopied(recorded, { ...recorded, device: '2050', born: '1800000000000000000' }), true)
  assert.equal(isCopied(recorded, { ...recorded, inode: '13' }), true)
})

test('what the operator gave is remembered, a part at a time', async () => {
  const folder = freshFolder()
  await createAgentFolder(folder, { identity, baseUrl: 'http://127.0.0.1:8080' })
  await setExchangeAccess(folder, { clientId: 'client_1' })
  const { baseUrl, clientId } = await openAgentFolder(folder)
  assert.deepEqual([baseUrl, clientId], ['http://127.0.0.1:8080', 'client_1'])
  await setExchangeAccess(folder, { baseUrl: 'https://exchange.example' })
  assert.equal((await openAgentFolder(folder)).baseUrl, 'https://exchange.example')
  assert.equal((await openAgentFolder(folder)).clientId, 'client_1')
})

test('an agent is never made over another; a half made one is finished, unless it was for another agent', async () => {
  const folder = freshFolder()
  const { made, files } = await createAgentFolder(folder, { identity })
  await assert.rejects(createAgentFolder(folder, { identity }), code('agent_folder_occupied'))
  rmSync(files.description)
  const other = { organizationId: 'org_acme', agentId: 'agent_other' }
  await assert.rejects(createAgentFolder(folder, { identity: other }), code('agent_folder_occupied'))
  rmSync(files.clientPublicKey)
  assert.deepEqual((await createAgentFolder(folder, { identity })).made, made)
  assert.ok(statSync(files.clientPublicKey).size > 0)
})

test('of two who make one agent at once, one does', async () => {
  const folder = freshFolder()
  const results = await Promise.allSettled([
    createAgentFolder(folder, { identity }),
    createAgentFolder(folder, { identity }),
  ])
  assert.deepEqual(results.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
  assert.equal((await (await openAgentFolder(folder)).keys.list()).length, 3)
})

test('what is wrong with a folder is said in its own words', async () => {
  await assert.rejects(openAgentFolder(freshFolder()), code('agent_folder_missing'))
  await assert.rejects(setExchangeAccess(freshFolder(), {}), code('agent_folder_missing'))
  const file = join(root, 'a-file')
  writeFileSync(file, '')
  await assert.rejects(createAgentFolder(join(file, 'agent'), { identity }), code('input_invalid'))
  for (const wrong of [
    { organizationId: 'acme', agentId: 'agent_planner' },
    { organizationId: 'org_acme', agentId: 'planner' },
  ]) {
    await assert.rejects(createAgentFolder(freshFolder(), { identity: wrong }), code('input_invalid'))
  }
  const folder = freshFolder()
  const { files } = await createAgentFolder(folder, { identity, ...quick })
  await assert.rejects((await openAgentFolder(folder)).keys.list(), code('key_store_locked'))
  chmodSync(files.keys, 0o644)
  await assert.rejects((await openAgentFolder(folder, quick)).keys.list(), code('key_store_exposed'))
  for (const content of ['', '{}', '{"format":"aex-agent","version":2}']) {
    writeFileSync(files.description, content)
    await assert.rejects(openAgentFolder(folder), code('agent_folder_unreadable'))
  }
  rmSync(files.description)
  mkdirSync(files.description)
  await assert.rejects(openAgentFolder(folder), code('agent_folder_unreadable'))
})

test('an agent from its folder registers, and its pins are there the next time', async () => {
  await using world = await startWorld()
  const peer = await startAgent(world, 'peer')
  const folder = freshFolder()
  const own = { organizationId: randomId('org_folder'), agentId: randomId('agent_folder') }
  const { made } = await createAgentFolder(folder, { identity: own, ...quick })
  await provision(world, '/organizations', { organization_id: own.organizationId, name: 'folder' })
  const client = await provision(world, '/clients', {
    organization_id: own.organizationId,
    agent_id: own.agentId,
    public_jwk: made.client.publicJwk,
  })
  await setExchangeAccess(folder, { baseUrl: world.url, clientId: String(client['client_id']) })
  const open = async () => {
    const { baseUrl = '', clientId = '', ...rest } = await openAgentFolder(folder, quick)
    return createContext({ ...rest, baseUrl, clientId })
  }
  const first = await open()
  await registerAgent(first, { implementation: 'folder', implementationVersion: '1.0.0' })
  const { keyId } = await first.peers.encryptionKey(peer.identity.agentId)
  const second = await open()
  const pinned = await second.peers.pins(peer.identity.agentId)
  assert.ok(pinned?.keys.some((key) => key.keyId === keyId && key.by === 'first-use'))
  assert.equal((await second.peers.encryptionKey(peer.identity.agentId)).keyId, keyId)
})
