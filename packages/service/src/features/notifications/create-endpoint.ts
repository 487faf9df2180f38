import type { Transaction } from '../../db/database.ts'
import { isReachableHost } from '../../delivery/address-guard.ts'
import type { Mutation } from '../../kernel/call.ts'
import { Problem } from '../../kernel/problem.ts'
import { requireEndpointAccess } from './stream-access.ts'

/** EVT-15: an https address for signed webhooks; the answer names the key that will sign. */
export const createWebhookEndpoint: Mutation<'createWebhookEndpoint'> = {
  authorize({ caller, body, context }) {
    requireEndpointAccess(caller, context)
    requireHttps(body.url)
    if (!context.allowPrivateReceivers) requireReachable(body.url)
  },

  async run({ caller, body, now, context }, tx) {
    await requireRoom(tx, caller.organizationId, context.profile['O-13'].webhook_endpoints)
    const endpointId = context.newId('whe')
    const signingKeyId = await context.webhookKeys.currentKeyId(tx, now)
    await tx`
      insert into webhook_endpoint
        (webhook_endpoint_id, organization_id, url, event_types, signing_key_id, status, created_at, updated_at)
      values (${endpointId}, ${caller.organizationId}, ${body.url}, ${body.event_types}, ${signingKeyId}, 'active', ${now}, ${now})`
    return {
      webhook_endpoint_id: endpointId,
      url: body.url,
      event_types: body.event_types,
      status: 'active',
      signing_key_id: signingKeyId,
    }
  },
}

/** RFC 3986 section 3: scheme, slashes and an authority without user information; no fragment, not even an empty one. */
const HTTPS_ADDRESS = /^https:\/\/[^/?#@\\]+(?:[/?][^#\\]*)?$/i

/**
 * EVT-06. User information would travel in logs and headers; a fragment means nothing to a server. The parser of
 * the platform mends what is not quite an address, so the text is judged too: it is what the owner reads.
 */
function requireHttps(text: string): void {
  if (HTTPS_ADDRESS.test(text) && URL.canParse(text)) return
  const message = 'Use an https address without user information or fragment.'
  const rule = text.includes('#') ? 'O-33' : 'EVT-15'
  throw new Problem('validation_failed', { failures: [{ pointer: '/url', rule, message }] })
}

/** O-33: found at registration instead of at the first event. */
function requireReachable(text: string): void {
  if (isReachableHost(new URL(text).hostname)) return
  const message =
    'Use an address that is reachable from the exchange: webhooks go to public addresses only. For receivers on this ' +
    'machine or network, the operator sets AEX_WEBHOOK_ALLOW_PRIVATE=true.'
  throw new Problem('validation_failed', { failures: [{ pointer: '/url', rule: 'O-33', message }] })
}

async function requireRoom(tx: Transaction, organizationId: string, maximum: number): Promise<void> {
  // The organization's row is held, so that two registrations cannot both take the last place.
  await tx`select from organization where organization_id = ${organizationId} for no key update`
  const [row] = await tx<{ count: number }[]>`
    select count(*) as count from webhook_endpoint where organization_id = ${organizationId} and status <> 'deleted'`
  if ((row?.count ?? 0) >= maximum)
    throw new Problem('quota_reached', { quota: 'webhook_endpoints', maximum })
}
