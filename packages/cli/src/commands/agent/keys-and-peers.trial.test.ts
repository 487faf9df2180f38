import assert from 'node:assert/strict'
import { generateKeyPair, jwkThumbprint } from '@agent-exchange/crypto'
import { after, before, test } from 'node:test'
import { connectFolder } from '@agent-exchange/sdk/node'
import { startWorld, type World } from '@agent-exchange/testkit'
import { documentOf, fails, succeeds } from '../../aex-here.fixture.ts'
import { madeAgent, packageBetween, temporaryFolder } from './agents.fixture.ts'

const folder = temporaryFolder()
let world: World
let [acme, bolt] = ['', '']
before(async () => {
  world = await startWorld()
  acme = await madeAgent(world, 'acme', folder.path('acme'))
  bolt = await madeAgent(world, 'bolt', folder.path('bolt'))
})
after(async () => {
  await world[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

interface Key {
  readonly key_id: string
  readonly role: string
  readonly stage: string
  readonly public_jwk: object
  readonly replaces?: string
}

interface Peer {
  readonly agent_id: string
  readonly keys: readonly { readonly use: string; readonly by: string; readonly fingerprint: string }[]
  readonly expected: readonly string[]
}

const keysOf = (dir: string) => documentOf<Key[]>('agent', 'keys', 'list', '--dir', dir)
const peersOf = (dir: string) => documentOf<Peer[]>('agent', 'peers', '--dir', dir)
const trust = (...args: string[]) => ['agent', 'trust', 'agent_bolt', ...args, '--dir', acme]
const fingerprintOf = async (dir: string) => (await succeeds('agent', 'fingerprint', '--dir', dir)).trimEnd()

/** Sends a package of acme to bolt by the command line; each time a new one. */
async function sending(): Promise<string[]> {
  const terms = ['--to', 'org_bolt', '--policy-id', 'pol_1', '--dir', acme]
  const [policy, object] = [folder.path(crypto.randomUUID()), folder.path(crypto.randomUUID())]
  await succeeds('new', 'policy_envelope', ...terms, '--out', policy)
  await succeeds('new', 'reasoning_package', ...terms, '--out', object)
  return ['agent', 'send', object, '--policy', policy, '--to', 'agent_bolt', '--dir', acme]
}

test('keys are listed without the exchange and without private parts', async () => {
  const keys = await keysOf(acme)
  assert.deepEqual(keys.map(({ role, stage }) => `${role} ${stage}`).toSorted(), [
    'client current',
    'encryption current',
    'signing current',
  ])
  for (const { public_jwk } of keys)
    assert.deepEqual(Object.keys(public_jwk).toSorted(), ['crv', 'kty', 'x', 'y'])
  const shown = await succeeds('agent', 'keys', 'list', '--dir', acme)
  assert.match(shown, /^ROLE +STAGE +CREATED_AT +KEY_ID\n/)
  assert.match(await fails('agent', 'keys', 'list', '--dir', folder.path('none')), /no agent in this folder/)
})

test('a fingerprint that is not theirs stops everything before it is sealed, and says both', async () => {
  const theirs = await fingerprintOf(bolt)
  const { fingerprint } = await documentOf<{ fingerprint: string }>('agent', 'fingerprint', '--dir', bolt)
  assert.equal(fingerprint, theirs)
  assert.match(await fails(...trust('abc')), /43 characters of base64url/)
  assert.equal(await succeeds('agent', 'peers', '--dir', acme), 'No other agent is known yet.\n')

  const wrong = await fingerprintOf(acme)
  assert.deepEqual((await documentOf<Peer>(...trust(wrong))).expected, [wrong])
  const hyphened = `-h${wrong.slice(2)}`
  assert.deepEqual((await documentOf<Peer>(...trust(hyphened))).expected, [wrong, hyphened])
  assert.match(
    await succeeds('agent', 'peers', '--dir', acme),
    new RegExp(`agent_bolt .*${wrong} .*not seen yet`),
  )
  const said = await fails(...(await sending()))
  assert.match(said, /peer_key_mismatch/)
  for (const shown of [wrong, theirs]) assert.ok(said.includes(shown), said)
  const [packages] = await world.sql`select count(*)::int as count from package`
  assert.equal(packages?.['count'], 0)

  // Read out in groups, as people do.
  assert.match(await succeeds(...trust(theirs.replaceAll(/(.{8})/g, '$1 '))), /agent_bolt is trusted/)
  await succeeds(...(await sending()))
  // The platform is known too: its key signs the statement about the log.
  const peer = (await peersOf(acme)).find(({ agent_id }) => agent_id === 'agent_bolt')
  assert.deepEqual(peer?.keys.map(({ use, by }) => `${use} ${by}`).toSorted(), [
    'encryption introduction',
    'signing fingerprint',
  ])
})

test('a rotated key is accepted by peers, since the signing key introduces it; the old one still opens', async () => {
  const earlier = await packageBetween(acme, bolt)
  const rotated = await documentOf<Key[]>('agent', 'keys', 'rotate', 'encryption', '--dir', bolt)
  assert.deepEqual(
    rotated.map(({ stage }) => stage),
    ['current', 'previous'],
  )
  assert.equal(rotated[0]?.replaces, rotated[1]?.key_id)
  await succeeds('agent', 'open', earlier.packageId, '--dir', bolt)
  await succeeds('agent', 'keys', 'rotate', 'signing', '--dir', bolt)
  await succeeds(...(await sending()))
  assert.match(await succeeds('agent', 'doctor', '--dir', bolt), /Everything is as it should be/)
})

test('a key that nothing introduced is refused where nobody can be asked, and both fingerprints are shown', async () => {
  const { publicKey } = await generateKeyPair('encryption')
  const offered = await jwkThumbprint(publicKey.jwk)
  const known = await currentOf(bolt)
  {
    await using agent = await connectFolder(bolt)
    await agent.context.connection.call('registerAgentKey', {
      path: { agent_id: 'agent_bolt' },
      body: {
        key_id: 'enc_stranger',
        use: 'encryption',
        format: 'jwk',
        public_key: publicKey.jwk,
        valid_from: new Date().toISOString(),
      },
    })
  }
  const said = await fails(...(await sending()))
  assert.match(said, /peer_key_unconfirmed/)
  assert.match(
    said,
    new RegExp(`^ {2}known {4}${known}\\n(?: {2}known .*\\n)* {2}offered {2}${offered}$`, 'm'),
  )
  assert.match(said, new RegExp(`^ {2}npx aex agent trust agent_bolt ${offered} --dir ${acme}$`, 'm'))
  await succeeds(...trust(offered))
  await succeeds(...(await sending()))
})

async function currentOf(dir: string): Promise<string> {
  const current = (await keysOf(dir)).find(({ role, stage }) => role === 'encryption' && stage === 'current')
  return jwkThumbprint(current?.public_jwk as Parameters<typeof jwkThumbprint>[0])
}

test('a revoked key is revoked for ever, and the exchange answers by its record', async () => {
  const { key_id } = (await keysOf(acme)).find(({ role }) => role === 'encryption') ?? { key_id: '' }
  const because = ['--invalid-from', '2h', '--reason-code', 'compromise', '--evidence', 'case_7']
  const revoke = ['agent', 'keys', 'revoke', key_id, ...because, '--dir', acme]
  const key = await documentOf(...revoke)
  assert.equal(key['status'], 'revoked')
  assert.ok(Date.parse(String(key['invalid_from'])) < Date.now() - 7_000_000)
  assert.match(await fails(...revoke), /invalid_state_transition/)
  assert.match(
    await fails('agent', 'keys', 'revoke', 'key_none', ...because, '--dir', acme),
    /resource_not_found/,
  )
})
