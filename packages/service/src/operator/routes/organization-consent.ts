import { organizationId, type DeploymentProfile } from '@agent-exchange/protocol'
import { Type } from 'typebox'
import type { Queries, Transaction } from '@agent-exchange/database'
import {
  findConsent,
  listSenderRules,
  NO_LIMIT,
  putSenderRules,
  removeSenderRules,
  type ConsentRow,
} from '../../features/organizations/consent-store.ts'
import {
  existingOrganizations,
  lockOrganization,
  setAcceptsFrom,
  setDailyQuotas,
} from '../../features/organizations/organization-store.ts'
import { dayOf, readUsage, usageOn } from '../../features/organizations/usage-store.ts'
import { Problem } from '../../kernel/problem.ts'
import { listPage, pageFields } from '../listing.ts'
import { change, input, optionalReason, read, type OperatorCall, type Route } from '../route.ts'

const PATH = '/organizations/:organization_id'
const MAXIMUM_CHANGED = 100
const MAXIMUM_PER_DAY = 1_000_000_000

const senders = Type.Optional(Type.Array(organizationId, { minItems: 1, maxItems: MAXIMUM_CHANGED }))

/** From whom the organization accepts packages, and what it may send in a day. */
export const readConsent = read(`${PATH}/consent`, input({}), ({ params, context, now }, db) =>
  shownConsent(db, params['organization_id'] ?? '', context.profile, now),
)

/** Both lists, by the id of the sender. */
export const readSenders = read(
  `${PATH}/senders`,
  input({ ...pageFields, rule: Type.Optional(Type.Enum(['accept', 'block'])) }),
  async (call, db) => {
    const id = call.params['organization_id'] ?? ''
    if (!(await findConsent(db, id))) throw new Problem('resource_not_found')
    const { rule } = call.input
    const rows = (after: string | undefined, limit: number) =>
      listSenderRules(db, { organizationId: id, rule, after, limit })
    const name = ['senders', id, rule]
    return listPage(call, { name, rows, position: (row) => row.sender_org_id }, (row) => row)
  },
)

/** O-50. Takes effect with the next submission on every process; what was accepted before stays. */
export const changeConsent = change(
  `${PATH}/consent`,
  {
    body: input({
      accepts_from: Type.Optional(Type.Enum(['anyone', 'listed', 'default'])),
      accept: senders,
      block: senders,
      remove: senders,
      reason: optionalReason,
    }),
  },
  async (call, tx) => {
    const { context, now, input: body } = call
    const { reason: _reason, ...changes } = body
    const { accepts_from, accept = [], block = [], remove = [] } = changes
    const target = await lockChangeable(call, tx)
    if (Object.keys(changes).length === 0)
      throw invalid('', 'Give accepts_from, accept, block or remove; otherwise nothing changes.')
    await requireSenders(tx, target, { accept, block, remove })
    if (accepts_from !== undefined)
      await setAcceptsFrom(tx, target, accepts_from === 'default' ? null : accepts_from)
    await putSenderRules(tx, { organizationId: target, senders: accept, rule: 'accept', now })
    await putSenderRules(tx, { organizationId: target, senders: block, rule: 'block', now })
    await removeSenderRules(tx, target, remove)
    const answer = await shownConsent(tx, target, context.profile, now)
    const maximum = context.profile['O-50'].listed_organizations
    if (answer.accepted + answer.blocked > maximum)
      throw new Problem('quota_reached', { quota: 'listed_organizations', maximum })
    return { answer, action: 'organization.consent', target, details: changes }
  },
)

const perDay = Type.Optional(
  Type.Union(
    [
      Type.Integer({ minimum: 0, maximum: MAXIMUM_PER_DAY }),
      Type.Literal('unlimited'),
      Type.Literal('default'),
    ],
    { description: `a number up to ${MAXIMUM_PER_DAY}, "unlimited" or "default" (of the profile, O-13)` },
  ),
)

/** O-13: what the organization may send in a UTC day. Takes effect with the next submission on every process. */
export const changeDailyQuotas = change(
  `${PATH}/quotas`,
  { body: input({ packages_per_day: perDay, threads_per_day: perDay, reason: optionalReason }) },
  async (call, tx) => {
    const { context, now, input: body } = call
    const { reason: _reason, ...changes } = body
    const target = await lockChangeable(call, tx)
    if (Object.keys(changes).length === 0)
      throw invalid('', 'Give packages_per_day or threads_per_day; otherwise nothing changes.')
    const former = await consentOf(tx, target)
    await setDailyQuotas(tx, target, {
      packages_per_day: toColumn(changes.packages_per_day, former.packages_per_day),
      threads_per_day: toColumn(changes.threads_per_day, former.threads_per_day),
    })
    const answer = await shownConsent(tx, target, context.profile, now)
    return { answer, action: 'organization.quotas', target, details: changes }
  },
)

export const organizationConsentRoutes: readonly Route[] = [
  readConsent,
  readSenders,
  changeConsent,
  changeDailyQuotas,
]

async function consentOf(db: Queries, id: string): Promise<ConsentRow> {
  const consent = await findConsent(db, id)
  if (!consent) throw new Problem('resource_not_found')
  return consent
}

/** What applies, where from the profile, and how much of a quota is used today. */
export async function shownConsent(db: Queries, id: string, profile: DeploymentProfile, now: string) {
  const [consent, usage] = await Promise.all([consentOf(db, id), readUsage(db, id)])
  const today = usageOn(dayOf(now), usage)
  return {
    organization_id: id,
    accepts_from: consent.accepts_from ?? profile['O-50'].accepts_from,
    is_default: consent.accepts_from === null,
    accepted: consent.accepted,
    blocked: consent.blocked,
    packages_per_day: shownQuota(consent, 'packages_per_day', today.packages_of_day, profile),
    threads_per_day: shownQuota(consent, 'threads_per_day', today.threads_of_day, profile),
  }
}

function shownQuota(
  consent: ConsentRow,
  name: 'packages_per_day' | 'threads_per_day',
  used: number,
  profile: DeploymentProfile,
) {
  const maximum = consent[name] ?? profile['O-13'][name] ?? NO_LIMIT
  return { used, maximum: maximum === NO_LIMIT ? null : maximum, is_default: consent[name] === null }
}

function toColumn(
  wanted: number | 'unlimited' | 'default' | undefined,
  former: number | null,
): number | null {
  if (wanted === undefined) return former
  if (wanted === 'default') return null
  return wanted === 'unlimited' ? NO_LIMIT : wanted
}

/** The platform's own organization exchanges no packages, and an ended one none any more. */
async function lockChangeable({ params, context }: OperatorCall<unknown>, tx: Transaction): Promise<string> {
  const id = params['organization_id'] ?? ''
  const organization = await lockOrganization(tx, id)
  if (!organization) throw new Problem('resource_not_found')
  if (id === context.profile['O-42'].organization_id) throw new Problem('not_permitted')
  if (organization.status === 'ended') throw new Problem('invalid_state_transition', { state: 'ended' })
  return id
}

/** Each exists, is another organization, and is named once. */
async function requireSenders(
  tx: Transaction,
  target: string,
  lists: Readonly<Record<'accept' | 'block' | 'remove', readonly string[]>>,
): Promise<void> {
  const named = Object.entries(lists).flatMap(([list, ids]) =>
    ids.map((id, index) => ({ id, pointer: `/${list}/${index}` })),
  )
  const existing = await existingOrganizations(
    tx,
    named.map(({ id }) => id),
  )
  const seen = new Set<string>()
  for (const { id, pointer } of named) {
    if (id === target) throw invalid(pointer, 'Name another organization: its own packages always pass.')
    if (!existing.has(id))
      throw invalid(pointer, 'Name an organization of this exchange; there is none with this id.')
    if (seen.has(id)) throw invalid(pointer, 'Name each organization once.')
    seen.add(id)
  }
}

function invalid(pointer: string, message: string): Problem {
  return new Problem('validation_failed', { failures: [{ pointer, rule: 'O-50', message }] })
}
