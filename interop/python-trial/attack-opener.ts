import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateKeyPair } from '@agent-exchange/crypto'
import {
  connectFolder,
  createAgentFolder,
  setExchangeAccess,
  type FolderAgent,
} from '@agent-exchange/sdk/node'
import { startWorld, type World } from '@agent-exchange/testkit'
import { currentKey } from '../../packages/sdk/src/agent-keys/make-keys.ts'
import { revokeKey } from '../../packages/sdk/src/agent-keys/revoke-key.ts'
import { rotateKey } from '../../packages/sdk/src/agent-keys/rotate-key.ts'
import { provision, startAgent } from '../../packages/sdk/src/agents.fixture.ts'
import { sendCrafted, type Crafting } from '../../packages/sdk/src/send/crafted.fixture.ts'
import { SECRET_WORDS } from '../../packages/sdk/src/send/drafts.fixture.ts'
import { INVALID_INSIDE, LIES, wrongInside } from '../../packages/sdk/src/send/opening-attacks.fixture.ts'
import { startMeddlingProxy } from '../curl-agent/trial/meddling-proxy.ts'
import { PACKAGES, type Place } from './place.ts'

const LIMIT_MS = 60_000

interface Ending {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Every attack of the SDK's tests on opening, against the Python opener on the same kind of folder. */
export async function attackOpener({ folder, python, report }: Place): Promise<void> {
  await using world = await startWorld()
  const acme = await startAgent(world, 'acme')
  const eve = await startAgent(world, 'eve')
  const dir = join(folder, 'opener')
  await using bolt = await registered(world, dir)
  const send = async (crafting: Crafting = {}) => (await sendCrafted(acme, bolt.context, crafting)).package_id
  const open = (packageId: string, how: { proxy?: string; dir?: string; args?: string[] } = {}) =>
    run(python, ['--dir', how.dir ?? dir, ...(how.args ?? []), packageId], how.proxy)
  const receipts = async (packageId: string) => {
    const path = { package_id: packageId }
    const evidence = await acme.connection.call('getPackageAuditEvidence', { path })
    return evidence.receipts.map(({ state }) => state)
  }
  const isRefused = async (packageId: string, ending: Ending, states: readonly string[]) => {
    assert.equal(ending.code, 1, ending.stderr)
    assert.equal(ending.stdout, '')
    assert.match(ending.stderr, /^Not opened: /u)
    assert.ok(!ending.stderr.includes(SECRET_WORDS))
    assert.deepEqual(await receipts(packageId), states, ending.stderr)
  }

  await report.step('it opens a good package, twice, with one receipt of each state', async () => {
    const packageId = await send()
    for (const _ of [1, 2]) {
      const { code, stdout, stderr } = await open(packageId)
      assert.equal(code, 0, stderr)
      assert.ok(stdout.includes(SECRET_WORDS))
    }
    assert.deepEqual(await receipts(packageId), ['received', 'opened'])
  })
  await report.step('it opens additional data of others, whatever they say', async () => {
    const packageId = await send({ aad: new TextEncoder().encode('{"package_id":"pkg_other"}') })
    const { code, stderr } = await open(packageId)
    assert.equal(code, 0, stderr)
  })
  await report.step('it judges a policy receipt by its own arrival, not by that of its package', async () => {
    const rotating = await startAgent(world, 'rotating')
    const first = (await currentKey(rotating.keys, 'signing')).keyId
    const { package_id: packageId } = await sendCrafted(rotating, bolt.context, {
      beforePackage: async () => {
        await rotateKey(rotating, 'signing')
        world.clock.advance(1)
        const retirement = { reasonCode: 'retirement', evidenceReference: 'case_1' }
        await revokeKey(rotating, first, { ...retirement, invalidFrom: new Date(world.clock.now()) })
        world.clock.advance(1)
      },
    })
    const { code, stderr } = await open(packageId)
    assert.equal(code, 0, stderr)
  })
  for (const [name, [crafting]] of Object.entries(wrongInside(acme, eve))) {
    await report.step(`another ${name} inside than outside`, async () => {
      const packageId = await send(crafting)
      await isRefused(packageId, await open(packageId), ['rejected'])
    })
  }
  for (const [index, crafting] of INVALID_INSIDE.entries()) {
    await report.step(`content that is not one valid object (${index + 1})`, async () => {
      const packageId = await send(crafting)
      await isRefused(packageId, await open(packageId), ['rejected'])
    })
  }
  for (const [name, [path, alter, , states]] of Object.entries(LIES)) {
    await report.step(`an exchange that shows ${name}`, async () => {
      const packageId = await send()
      await using proxy = await startMeddlingProxy((asked, text) =>
        path.test(asked) ? (alter(text) ?? undefined)?.toString() : text,
      )
      await isRefused(packageId, await open(packageId, { proxy: proxy.url }), states)
      // Without the proxy, the same package opens.
      assert.equal((await open(packageId)).code, 0)
    })
  }
  await report.step('a package that is sealed for a stranger under its key id', async () => {
    const { publicKey } = await generateKeyPair('encryption')
    const packageId = await send({ recipientKey: publicKey })
    await isRefused(packageId, await open(packageId), ['rejected'])
  })
  await report.step('a lost key and content above the limit are failures of its own', async () => {
    const packageId = await send()
    await isRefused(packageId, await open(packageId, { dir: withoutEncryptionKey(dir) }), ['failed'])
    const large = await send()
    await isRefused(large, await open(large, { args: ['--maximum-bytes', '100'] }), ['failed'])
  })
}

async function registered(world: World, dir: string): Promise<FolderAgent> {
  const identity = { organizationId: 'org_python', agentId: 'agent_python' }
  const { made } = await createAgentFolder(dir, { identity })
  const organization = { organization_id: identity.organizationId }
  await provision(world, '/organizations', { ...organization, name: 'Python' })
  const client = await provision(world, '/clients', { ...organization, public_jwk: made.client.publicJwk })
  await setExchangeAccess(dir, { baseUrl: world.url, clientId: String(client['client_id']) })
  const agent = await connectFolder(dir)
  await agent.register({
    implementation: 'python',
    implementationVersion: '1.0.0',
    skillVersions: { skill_alignment: '1.0.0' },
  })
  return agent
}

function withoutEncryptionKey(dir: string): string {
  const copy = `${dir}-without-key`
  cpSync(dir, copy, { recursive: true })
  const file = join(copy, 'keys.json')
  const stored = JSON.parse(readFileSync(file, 'utf8')) as { keys: { role: string }[] }
  writeFileSync(
    file,
    JSON.stringify({ ...stored, keys: stored.keys.filter(({ role }) => role !== 'encryption') }),
  )
  return copy
}

function run(python: string, args: readonly string[], proxy: string | undefined): Promise<Ending> {
  const env = {
    PATH: process.env['PATH'],
    PYTHONPATH: PACKAGES,
    ...(proxy === undefined ? { no_proxy: '*' } : { http_proxy: proxy }),
  }
  return new Promise((resolve) => {
    execFile(
      python,
      ['-B', '-m', 'agent_exchange.opener', ...args],
      { env, timeout: LIMIT_MS },
      (error, stdout, stderr) => {
        resolve({ code: error ? (typeof error.code === 'number' ? error.code : -1) : 0, stdout, stderr })
      },
    )
  })
}
