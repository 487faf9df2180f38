import { generateKeyPair } from '@agent-exchange/crypto'
import type { Check } from '../../run/check.ts'
import type { Context } from '../../run/context.ts'
import { holds, listOf, refused, same, succeeded } from '../../run/expect.ts'
import { blaming } from '../../run/finding.ts'
import { isObject } from '../../wire/wire.ts'
import { keyBody, newIdentity, registrationOf } from '../agent.ts'
import { draftPackage, receiptStatement, send } from '../draft.ts'
import { pathOf } from '../operations.ts'
import { newKey, sent } from '../scene.ts'
import { requireUnverified } from './policy-receipts.ts'
import { PUBLIC_KEY } from '../resources.ts'
import { requireShape } from '../shape.ts'

const LONGEST_TAIL = 128
const DAY_MS = 86_400_000
const before = (time: string, milliseconds: number) => new Date(Date.parse(time) - milliseconds).toISOString()

const readBack: Check = {
  name: 'agents/read-back',
  ids: ['ID-01', 'ID-02', 'OBJ-01'],
  title: 'an agent with an id of the longest form reads back as registered, to everybody',
  async run(context) {
    const { sender, recipient } = context
    const identity = await newIdentity(context.newId)
    const agentId = `agent_${context.newId('x').slice(2).padEnd(LONGEST_TAIL, '0').slice(0, LONGEST_TAIL)}`
    const body = registrationOf(sender.organization.organizationId, { ...identity, agentId })
    const created = succeeded(
      await sender.organization.call('POST', '/v1/agents/register', body),
      201,
      'an agent with an id of the longest form',
      ['ID-01', 'OBJ-01'],
    )
    const read = succeeded(
      await recipient.organization.call('GET', pathOf('getAgent', { agent_id: agentId })),
      200,
      'an agent of another organization',
      ['ID-02'],
    )
    const { keys: _, ...registered } = body
    for (const [member, value] of Object.entries(registered)) {
      const also = member === 'agent_id' ? ['OBJ-01'] : []
      same(created.body[member], value, `${member} of the registered agent`, ['ID-01', ...also])
      same(read.body[member], value, `${member} of the agent that was read`, ['ID-02', ...also])
    }
    const keys = listOf(read.body['keys'], 'keys').map(({ key_id }) => key_id)
    same(new Set(keys), new Set(body.keys.map(({ key_id }) => key_id)), 'the key ids of the agent', ['ID-02'])
  },
}

const wrongRegistration = (
  name: string,
  id: string,
  title: string,
  changes: (context: Context) => Readonly<Record<string, object>>,
): Check => ({
  name,
  ids: [id],
  title,
  async run(context) {
    const { organization } = context.sender
    const valid = registrationOf(organization.organizationId, await newIdentity(context.newId))
    for (const [what, change] of Object.entries(changes(context)))
      refused(await organization.call('POST', '/v1/agents/register', { ...valid, ...change }), what)
  },
})

const wrongForm = wrongRegistration(
  'agents/wrong-registration',
  'ID-02',
  'unknown transport modes, and keys that are no list, are refused',
  () => ({
    'an unknown transport mode': { transport_modes: ['carrier_pigeon'] },
    'no list of keys': { keys: 'none' },
  }),
)

const wrongId = wrongRegistration(
  'agents/wrong-id',
  'OBJ-01',
  'agent ids of another form are refused',
  ({ newId }) => ({
    'an agent id without its prefix': { agent_id: newId('robot') },
    'an agent id whose tail is too long': { agent_id: `agent_${'a'.repeat(LONGEST_TAIL + 1)}` },
  }),
)

const replacement: Check = {
  name: 'agents/replacement-key',
  ids: ['ID-03'],
  title: 'a replacement key with the id or the material of the replaced one is refused',
  async run(context) {
    const { sender } = context
    const path = pathOf('registerAgentKey', { agent_id: sender.agentId })
    const { call } = sender.organization
    const old = await newKey(context)
    succeeded(await call('POST', path, old), 201)
    const replaces_key_id = old.key_id
    const fresh = await newKey(context)
    const equal = { ...old, key_id: context.newId('sig'), replaces_key_id }
    refused(await call('POST', path, equal), 'a replacement key with the same material')
    refused(
      await call('POST', path, { ...fresh, key_id: old.key_id, replaces_key_id }),
      'a replacement with the same id',
    )
    const replaced = succeeded(
      await call('POST', path, { ...fresh, replaces_key_id }),
      201,
      'a distinct replacement',
    )
    requireShape(replaced.body, PUBLIC_KEY, 'the replacement key')
  },
}

const revocation: Check = {
  name: 'agents/revoked-key',
  ids: ['ID-04', 'ID-07'],
  title: 'a revoked key says when and from when, stays in the directory, and never becomes valid for longer',
  async run(context) {
    const { sender, recipient } = context
    const { call } = sender.organization
    const ofAgent = { agent_id: sender.agentId }
    const key = await newKey(context)
    succeeded(await call('POST', pathOf('registerAgentKey', ofAgent), key), 201)
    const path = pathOf('revokeAgentKey', { ...ofAgent, key_id: key.key_id })
    const invalidFrom = before(context.now(), DAY_MS)
    const body = { invalid_from: invalidFrom, reason_code: 'compromise', evidence_reference: 'case 2' }
    succeeded(await call('POST', path, body), 200, 'a revocation of a key', ['ID-04'])
    const later = await call('POST', path, { ...body, invalid_from: context.now() })
    context.note('O-05', `a second revocation with a later invalid_from: ${later.status}`)
    const directory = await recipient.organization.call('GET', pathOf('getAgentKeys', ofAgent))
    const keys = listOf(succeeded(directory, 200).body['keys'], 'keys of the directory')
    const listed = keys.find(({ key_id }) => key_id === key.key_id)
    holds(listed !== undefined, 'a revoked key is missing in the key directory', ['ID-07'])
    holds(listed['status'] !== 'active', 'a revoked key is still active in the key directory', ['ID-04'])
    holds(typeof listed['revoked_at'] === 'string', 'a revoked key has no revoked_at', ['ID-04'])
    same(
      Date.parse(String(listed['invalid_from'])),
      Date.parse(invalidFrom),
      'invalid_from of a revoked key',
      ['ID-04'],
    )
  },
}

/** Registers a signing key of the sender with changed members, and returns it. */
async function signingKey(context: Context, change: object = {}) {
  const { sender } = context
  const key = { keyId: context.newId('sig'), pair: await generateKeyPair('signing') }
  const path = pathOf('registerAgentKey', { agent_id: sender.agentId })
  const body = { ...keyBody(key, 'signing'), ...change }
  succeeded(await sender.organization.call('POST', path, body), 201, 'a further signing key')
  return key
}

const OF_PACKAGES = ['ID-05', 'PKG-01']

const usableKeys: Check = {
  name: 'agents/usable-signing-keys',
  ids: ['ID-05', 'PKG-01', 'POL-01'],
  title: 'a package and a policy receipt count only by a usable signing key of their sender',
  async run(context) {
    const { sender, recipient } = context
    const rotated = await signingKey(context)
    const good = await draftPackage(context, sender, recipient, {
      signedBy: rotated,
      receiptSignedBy: rotated,
    })
    await blaming(OF_PACKAGES, async () =>
      succeeded(await send(sender, good), 202, 'a package signed with a further key'),
    )
    const future = await signingKey(context, { valid_from: before(context.now(), -DAY_MS) })
    const revoked = await signingKey(context)
    const path = pathOf('revokeAgentKey', { agent_id: sender.agentId, key_id: revoked.keyId })
    const body = {
      invalid_from: before(context.now(), 60_000),
      reason_code: 'compromise',
      evidence_reference: 'case 3',
    }
    succeeded(await sender.organization.call('POST', path, body), 200)
    const backdated = {
      created_at: before(context.now(), 3_600_000),
      expires_at: before(context.now(), -3_600_000),
    }
    const unknown = { keyId: context.newId('sig'), pair: await generateKeyPair('signing') }
    const wrong = {
      'an unregistered key': { signedBy: unknown },
      'the key of another agent': { signedBy: recipient.signing },
      'an encryption key': { signedBy: { ...sender.signing, keyId: sender.encryption.keyId } },
      'a key that is not valid yet': { signedBy: future },
      'a revoked key': { signedBy: revoked },
      'a revoked key and an earlier date': { signedBy: revoked, metadata: backdated },
    }
    for (const [what, deviation] of Object.entries(wrong)) {
      const draft = await draftPackage(context, sender, recipient, deviation)
      await blaming(OF_PACKAGES, async () =>
        refused(await send(sender, draft), `a package signed with ${what}`),
      )
      const receipt = await draftPackage(context, sender, recipient, { receiptSignedBy: deviation.signedBy })
      const answer = await sender.organization.call('POST', '/v1/policy-receipts', receipt.receipt)
      await blaming(['ID-05', 'POL-01'], async () =>
        Promise.resolve(requireUnverified(context, answer, `a policy receipt signed with ${what}`)),
      )
    }
  },
}

const receiptKeys: Check = {
  name: 'agents/receipt-keys',
  ids: ['ID-05', 'PKG-08'],
  title: 'a package receipt counts only by a signing key of its actor',
  async run(context) {
    const { sender, recipient } = context
    const draft = await sent(context)
    const path = pathOf('createPackageReceipt', { package_id: draft.packageId })
    const foreign = await receiptStatement(
      context,
      { ...recipient, signing: sender.signing },
      draft,
      'received',
    )
    refused(
      await recipient.organization.call('POST', path, foreign),
      'a receipt signed with a key of another agent',
    )
    const valid = await receiptStatement(context, recipient, draft, 'received')
    const altered = { ...valid, occurred_at: before(context.now(), 1_000) }
    refused(
      await recipient.organization.call('POST', path, altered),
      'a receipt that was altered after signing',
    )
    succeeded(await recipient.organization.call('POST', path, valid), 201, 'a valid receipt')
  },
}

const privateMembers: Check = {
  name: 'agents/private-members',
  ids: ['ID-06', 'AUTH-04', 'ERR-02', 'PKG-14'],
  title: 'a key with private members is refused, and the private part is not repeated',
  async run(context) {
    const { sender } = context
    const path = pathOf('registerAgentKey', { agent_id: sender.agentId })
    const pair = await generateKeyPair('signing')
    const body = keyBody({ keyId: context.newId('sig'), pair }, 'signing')
    for (const public_key of [
      { ...pair.publicKey.jwk, d: pair.privateJwk.d },
      { ...pair.publicKey.jwk, oth: [{ d: pair.privateJwk.d }] },
    ]) {
      const answer = await sender.organization.call('POST', path, { ...body, public_key })
      refused(answer, 'a key with a private member', ['ID-06', 'AUTH-04'])
      holds(!answer.text.includes(pair.privateJwk.d), 'the answer repeats a private key', [
        'ERR-02',
        'AUTH-04',
        'PKG-14',
      ])
    }
    const { x } = pair.publicKey.jwk
    const offCurve = { kty: 'EC', crv: 'P-256', x, y: x }
    refused(
      await sender.organization.call('POST', path, { ...body, public_key: offCurve }),
      'a point off the curve',
      ['ID-06'],
    )
    const described = { ...pair.publicKey.jwk, kid: 'mine', alg: 'ES256', use: 'sig', key_ops: ['verify'] }
    const kept = await sender.organization.call('POST', path, { ...body, public_key: described })
    succeeded(kept, 201, 'a public key with further public members (RFC 7517)', ['ID-06'])
    const stored = kept.body['public_key']
    same(isObject(stored) && [stored['x'], stored['y']], [described.x, described.y], 'the registered point', [
      'ID-06',
    ])
  },
}

export const AGENT_CHECKS: readonly Check[] = [
  readBack,
  wrongForm,
  wrongId,
  replacement,
  revocation,
  usableKeys,
  receiptKeys,
  privateMembers,
]
