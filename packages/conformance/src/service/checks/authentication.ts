import { generateKeyPair } from '@agent-exchange/crypto'
import type { Check } from '../../run/check.ts'
import { holds, refused, succeeded } from '../../run/expect.ts'
import { blaming, NotJudged } from '../../run/finding.ts'
import { type ClientIdentity, requestToken, requestTokenByEitherClock } from '../../wire/access-token.ts'
import { type Answer, toAnswer, type Transport } from '../../wire/wire.ts'
import { draftPackage, receiptStatement, revocationStatement } from '../draft.ts'
import { OPERATION_NAMES, pathOf } from '../operations.ts'
import { newIdentity, registrationOf } from '../agent.ts'
import { newKey, notified, perform, registeredKey, sent, validRequest } from '../scene.ts'

const DAY_SECONDS = 86_400

const withoutToken: Check = {
  name: 'authentication/without-token',
  ids: ['API-08', 'AUTH-01'],
  title: 'no operation answers without an access token, or with one that is none',
  async run(context) {
    for (const operation of OPERATION_NAMES) {
      const request = await validRequest(context, operation)
      for (const authorization of [undefined, 'Bearer not-a-token', 'Basic dXNlcjpwYXNz']) {
        const answer = await perform(operation, request, { headers: { authorization } })
        const what = `${operation} with ${authorization === undefined ? 'no token' : 'an invalid one'}`
        refused(answer, what)
        context.note('O-11', `a missing or invalid token: ${answer.status}`)
      }
    }
  },
}

const alteredToken: Check = {
  name: 'authentication/altered-token',
  ids: ['AUTH-01'],
  title: 'a token with an altered signature or altered claims is refused',
  async run({ sender }) {
    const token = await sender.organization.token()
    const [header = '', claims, signature] = token.split('.')
    if (claims === undefined || signature === undefined) throw new NotJudged('the tokens are opaque')
    const flipped = signature.startsWith('A') ? `B${signature.slice(1)}` : `A${signature.slice(1)}`
    const elevated = Buffer.from(
      JSON.stringify({
        ...(JSON.parse(Buffer.from(claims, 'base64url').toString()) as object),
        organization_id: 'org_somebody_else',
      }),
    ).toString('base64url')
    const unsigned = Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')
    for (const altered of [
      `${header}.${claims}.${flipped}`,
      `${header}.${elevated}.${signature}`,
      `${unsigned}.${claims}.`,
    ])
      refused(
        await sender.organization.call('GET', '/v1/notifications', undefined, {
          headers: { authorization: `Bearer ${altered}` },
        }),
        'an altered access token',
      )
  },
}

/** A connection that ends in the TLS handshake is a refusal too. */
async function refusedOrClosed(what: string, ask: () => Promise<Answer>): Promise<void> {
  try {
    refused(await ask(), what)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (!/^(?:ERR_SSL_|ECONNRESET$|EPIPE$)/u.test(code)) throw error
  }
}

const certificateBinding: Check = {
  name: 'authentication/certificate-binding',
  ids: ['AUTH-02'],
  title: 'a token of a client with a certificate works over connections with this certificate only',
  async run(context) {
    const { sender, recipient, baseUrl, newId } = context
    if (!sender.organization.client.hasCertificate)
      throw new NotJudged('the client of the first organization has no certificate')
    const path = pathOf('listNotifications')
    const headers = {
      authorization: `Bearer ${await sender.organization.token()}`,
      'x-correlation-id': newId('corr'),
    }
    const request = { method: 'GET', url: baseUrl + path, headers }
    const over = async (send: Transport) => toAnswer(request, await send(request))
    succeeded(await over(sender.organization.send), 200, 'a token over its own certificate')
    await refusedOrClosed('a token over a connection without a certificate', () => over(context.send))
    if (recipient.organization.client.hasCertificate)
      await refusedOrClosed('a token over another certificate', () => over(recipient.organization.send))
  },
}

const lifetime: Check = {
  name: 'authentication/lifetime',
  ids: ['AUTH-01'],
  title: 'access tokens say when they end, and that is soon',
  async run({ sender, endpoint, now, newId, note }) {
    const { client, send } = sender.organization
    const answer = await requestTokenByEitherClock({ client, endpoint, now, newId }, send)
    const seconds = succeeded(answer, 200, 'a token request').body['expires_in']
    holds(typeof seconds === 'number' && seconds > 0, 'the token answer has no expires_in')
    // How short is an open point, but a day is no longer short by anybody's measure.
    holds(seconds <= DAY_SECONDS, `a token lives ${seconds} s, which is not short`)
    note('O-08', `tokens live ${seconds} s`)
  },
}

const wrongClient: Check = {
  name: 'authentication/wrong-client',
  ids: ['AUTH-02'],
  title: 'another key or certificate, or none at all, gets no token',
  async run({ sender, recipient, endpoint, send, now, newId }) {
    const { client } = sender.organization
    const { clientId } = client
    const ask = (by: ClientIdentity, over: Transport) =>
      requestToken({ client: by, endpoint, now: now(), jti: newId('jti') }, over)
    const { privateJwk } = await generateKeyPair('signing')
    if (client.privateJwk) {
      const forged = { ...client, privateJwk }
      refused(await ask(forged, sender.organization.send), 'a token request with an assertion by another key')
    } else if (recipient.organization.client.hasCertificate) {
      const over = recipient.organization.send
      await refusedOrClosed('a token request over another certificate', () => ask(client, over))
    }
    await refusedOrClosed('a token request without a credential', () => ask({ clientId }, send))
  },
}

const otherOrganization: Check = {
  name: 'authentication/other-organization',
  ids: ['AUTH-03', 'ID-01', 'POL-01', 'PKG-08', 'PKG-10', 'EVT-11'],
  title: 'no mutation works in the name of another organization',
  async run(context) {
    const { sender, recipient, outsider } = context
    const own = sender.organization.organizationId
    const ofAgent = { agent_id: sender.agentId }
    const isRefused = (what: string, id: string, path: string, body: object) =>
      blaming(id === '' ? ['AUTH-03'] : ['AUTH-03', id], async () =>
        refused(await outsider.organization.call('POST', path, body), what),
      )
    const registration = registrationOf(own, await newIdentity(context.newId))
    await isRefused('an agent in another organization', 'ID-01', pathOf('registerAgent'), registration)
    const key = await newKey(context)
    await isRefused('a key of a foreign agent', '', pathOf('registerAgentKey', ofAgent), key)
    const revoke = pathOf('revokeAgentKey', { ...ofAgent, key_id: await registeredKey(context) })
    const revocation = { invalid_from: context.now(), reason_code: 'x', evidence_reference: 'x' }
    await isRefused('revoking a key of a foreign agent', '', revoke, revocation)
    const draft = await draftPackage(context, sender, recipient)
    await isRefused('a policy receipt of a foreign sender', 'POL-01', '/v1/policy-receipts', draft.receipt)
    succeeded(await sender.organization.call('POST', '/v1/policy-receipts', draft.receipt), 201)
    await isRefused('a package of a foreign sender', '', '/v1/packages', draft.body)
    const other = await sent(context)
    const ofPackage = { package_id: other.packageId }
    const receipt = await receiptStatement(context, outsider, other, 'received')
    const receipts = pathOf('createPackageReceipt', ofPackage)
    await isRefused('a receipt by an organization that is no party', 'PKG-08', receipts, receipt)
    const statement = await revocationStatement(context, outsider, other.packageId)
    await isRefused('revoking a foreign package', 'PKG-10', pathOf('revokePackage', ofPackage), statement)
    const notification = await notified(context, other)
    const ofNotification = { notification_id: String(notification['notification_id']) }
    await isRefused(
      'acknowledging a foreign notification',
      'EVT-11',
      pathOf('acknowledgeNotification', ofNotification),
      {
        event_id: notification['event_id'],
        disposition: 'stored',
        stored_at: context.now(),
        last_contiguous_sequence: 1,
      },
    )
  },
}

export const AUTHENTICATION_CHECKS: readonly Check[] = [
  withoutToken,
  alteredToken,
  lifetime,
  wrongClient,
  certificateBinding,
  otherOrganization,
]
