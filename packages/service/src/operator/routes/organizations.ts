import { organizationId } from '@agent-exchange/protocol'
import { Type } from 'typebox'
import type { Transaction } from '@agent-exchange/database'
import { announceStatus } from '../../webhooks/queue/wake-workers.ts'
import { findEnd, toEnd } from '../../features/organizations/organization-end-store.ts'
import {
  findOrganization,
  findOrganizationNames,
  insertOrganization,
  listOrganizations,
  lockOrganization,
  setContact,
  setOrganizationStatus,
} from '../../features/organizations/organization-store.ts'
import { readUsage } from '../../features/organizations/usage-store.ts'
import { Problem } from '../../kernel/problem.ts'
import { listPage, MAXIMUM_FILTER_CHARACTERS, page } from '../listing.ts'
import { shownConsent } from './organization-consent.ts'
import { change, input, optionalReason, read, reason, text, type OperatorCall, type Route } from '../route.ts'
import { countEndpoints } from '../../webhooks/endpoints/endpoint-queries.ts'

const MAXIMUM_NAME_CHARACTERS = 200
/** Names in one answer: those of a page of any list. */
const MAXIMUM_NAMES = 200
const MAXIMUM_CONTACT_CHARACTERS = 320

const contact = Type.Optional(
  Type.String({
    maxLength: MAXIMUM_CONTACT_CHARACTERS,
    pattern: '^[^\\s@\\u0000-\\u001f]+@[^\\s@\\u0000-\\u001f]+$',
    description: 'a mail address',
  }),
)

const newOrganization = input({
  organization_id: organizationId,
  name: text(MAXIMUM_NAME_CHARACTERS),
  contact,
  reason: optionalReason,
})

export const createOrganization = change(
  '/organizations',
  { body: newOrganization, status: 201 },
  async ({ input: body, now }, tx) => {
    const { organization_id: target, name, contact: address } = body
    const organization = await insertOrganization(tx, { organizationId: target, name, contact: address, now })
    if (!organization) throw new Problem('identifier_conflict', { exists: target })
    return {
      answer: organization,
      action: 'organization.create',
      target,
      details: { name, contact: address },
    }
  },
)

export const readOrganizations = read('/organizations', page, (call, db) =>
  listPage(
    call,
    {
      name: ['organizations'],
      rows: (after, limit) => listOrganizations(db, { after, limit }),
      position: (row) => row.organization_id,
    },
    (row) => ({ ...row, is_platform: isPlatform(call, row.organization_id) }),
  ),
)

const anyId = text(MAXIMUM_FILTER_CHARACTERS)

export const readOrganizationNames = read(
  '/organization-names',
  input({ organization_id: Type.Union([anyId, Type.Array(anyId, { maxItems: MAXIMUM_NAMES })]) }),
  async ({ input: { organization_id: ids } }, db) => ({
    items: await findOrganizationNames(db, typeof ids === 'string' ? [ids] : ids),
  }),
)

/** With its use of quotas. */
export const readOrganization = read('/organizations/:organization_id', input({}), async (call, db) => {
  const { params, context, now } = call
  const organization = await findOrganization(db, params['organization_id'] ?? '')
  if (!organization) throw new Problem('resource_not_found')
  const id = organization.organization_id
  const [usage, endpoints, end, consent] = await Promise.all([
    readUsage(db, id),
    countEndpoints(db, id),
    findEnd(db, id),
    shownConsent(db, id, context.profile, now),
  ])
  const quotas = context.profile['O-13']
  return {
    ...organization,
    // It cannot be suspended, invited or ended.
    is_platform: isPlatform(call, id),
    usage: {
      agents: { used: usage.agents, maximum: quotas.agents },
      webhook_endpoints: { used: endpoints.counted, maximum: quotas.webhook_endpoints },
      unused_policy_receipts: { used: usage.policy_receipts, maximum: quotas.unused_policy_receipts },
      stored_bytes: { used: usage.stored_bytes, maximum: quotas.stored_bytes },
    },
    consent,
    ...(end && { end: toEnd(end) }),
  }
})

/**
 * Takes effect with the next request, because each request checks the status. Pending webhooks wait until the
 * organization is active again.
 */
export const suspendOrganization = change(
  '/organizations/:organization_id/suspend',
  { body: input({ reason }) },
  (call, tx) => moveTo('suspended', 'organization.suspend', call, tx),
)

export const activateOrganization = change(
  '/organizations/:organization_id/activate',
  { body: input({ reason: optionalReason }) },
  (call, tx) => moveTo('active', 'organization.activate', call, tx),
)

/** Without a contact, alerts of the organization are listed and logged only. */
export const changeContact = change(
  '/organizations/:organization_id/contact',
  { body: input({ contact, reason: optionalReason }) },
  async ({ params, input: { contact: address } }, tx) => {
    const target = params['organization_id'] ?? ''
    const organization = await lockOrganization(tx, target)
    if (!organization) throw new Problem('resource_not_found')
    await setContact(tx, target, address)
    return {
      answer: { ...organization, contact: address ?? null },
      action: 'organization.contact',
      target,
      details: { contact: address ?? null },
    }
  },
)

export const organizationRoutes: readonly Route[] = [
  createOrganization,
  readOrganizations,
  readOrganizationNames,
  readOrganization,
  suspendOrganization,
  activateOrganization,
  changeContact,
]

/** The organization as which the exchange itself signs (O-42). */
function isPlatform({ context }: OperatorCall<unknown>, id: string): boolean {
  return id === context.profile['O-42'].organization_id
}

async function moveTo(
  status: 'active' | 'suspended',
  action: string,
  call: OperatorCall<unknown>,
  tx: Transaction,
) {
  const { params } = call
  const target = params['organization_id'] ?? ''
  const organization = await lockOrganization(tx, target)
  if (!organization) throw new Problem('resource_not_found')
  // The platform signs as this organization; without it no signature of the platform verifies.
  if (isPlatform(call, target)) throw new Problem('not_permitted')
  if (organization.status === status || organization.status === 'ended')
    throw new Problem('invalid_state_transition', { state: organization.status })
  await setOrganizationStatus(tx, target, status)
  await announceStatus(tx, target, status)
  return { answer: { ...organization, status }, action, target }
}
