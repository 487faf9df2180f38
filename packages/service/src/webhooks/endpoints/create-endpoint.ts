import type { Transaction } from '@agent-exchange/database'
import { isReachableHost } from '@agent-exchange/protocol/global-unicast'
import type { Mutation } from '../../kernel/call.ts'
import { Problem } from '../../kernel/problem.ts'
import { requireEndpointAccess } from '../../features/notifications/stream-access.ts'
import { countEndpoints } from './endpoint-queries.ts'
import { insertEndpoint } from './endpoint-store.ts'

/** EVT-15: registers an https URL for signed webhooks. The response names the signing key. */
export const createWebhookEndpoint: Mutation<'createWebhookEndpoint'> = {
  authorize({ caller, body, context }) {
    requireEndpointAccess(caller, context)
    requireHttps(body.url)
    if (!context.allowPrivateReceivers) requireReachable(body.url)
  },

  async run({ caller, body, now, context }, tx) {
    await requireQuota(tx, caller.organizationId, context.profile['O-13'].webhook_endpoints)
    const endpointId = context.newId('whe')
    const signingKeyId = await context.webhookKeys.currentKeyId(tx, now)
    await insertEndpoint(tx, {
      endpointId,
      organizationId: caller.organizationId,
      ...body,
      signingKeyId,
      now,
    })
    return {
      webhook_endpoint_id: endpointId,
      url: body.url,
      event_types: body.event_types,
      status: 'active',
      signing_key_id: signingKeyId,
    }
  },
}

/** RFC 3986 section 3: an https URL with an authority, without user information and without a fragment, even empty. */
const HTTPS_ADDRESS = /^https:\/\/[^/?#@\\]+(?:[/?][^#\\]*)?$/i

/**
 * EVT-06. User information would leak into logs and headers, and a fragment has no meaning for a server. The text is
 * checked as well, because the URL parser silently corrects malformed input.
 */
function requireHttps(text: string): void {
  if (HTTPS_ADDRESS.test(text) && URL.canParse(text)) return
  const message = 'Use an https URL without user information or fragment.'
  const rule = text.includes('#') ? 'O-33' : 'EVT-15'
  throw new Problem('validation_failed', { failures: [{ pointer: '/url', rule, message }] })
}

/** O-33: fails at registration instead of at the first delivery. */
function requireReachable(text: string): void {
  if (isReachableHost(new URL(text).hostname)) return
  const message =
    'Use a URL with a public address: webhooks are sent to public addresses only. To permit receivers on this ' +
    'machine or network, the operator sets AEX_WEBHOOK_ALLOW_PRIVATE=true.'
  throw new Problem('validation_failed', { failures: [{ pointer: '/url', rule: 'O-33', message }] })
}

/** Endpoints that answered 410 are free, but each event has to pass over them: this many for each that counts. */
const GONE_PER_COUNTED = 50

async function requireQuota(tx: Transaction, organizationId: string, maximum: number): Promise<void> {
  // Locks the organization, so that concurrent registrations cannot exceed the quota.
  await tx`select from organization where organization_id = ${organizationId} for no key update`
  const { counted, all } = await countEndpoints(tx, organizationId)
  if (counted >= maximum || all >= maximum * GONE_PER_COUNTED)
    throw new Problem('quota_reached', { quota: 'webhook_endpoints', maximum })
}
