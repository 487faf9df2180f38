import { Type } from 'typebox'
import { beginEnd, continueEnd } from '../../features/organizations/end-organization.ts'
import { planEnd } from '../../features/organizations/end-plan.ts'
import { findEnd, toEnd } from '../../features/organizations/organization-end-store.ts'
import { findOrganization } from '../../features/organizations/organization-store.ts'
import { Problem } from '../../kernel/problem.ts'
import { change, input, read, reason, type OperatorCall, type Route } from '../route.ts'

const PATH = '/organizations/:organization_id/end'
const ADMINISTRATOR = { role: 'administrator' } as const

/** What the end would remove, what has to stay, and how far an end has come. */
export const readEndPlan = read(PATH, input({}), async (call, db) => {
  const id = endableId(call)
  const organization = await findOrganization(db, id)
  if (!organization) throw new Problem('resource_not_found')
  const end = await findEnd(db, id)
  return { ...organization, ...(await planEnd(db, organization)), ...(end && { end: toEnd(end) }) }
})

/** Irreversible, so the request repeats the id. */
export const endOrganization = change(
  PATH,
  { body: input({ reason, confirm: Type.String({ maxLength: 256 }) }), ...ADMINISTRATOR },
  async (call, tx) => {
    const organizationId = endableId(call)
    const { input: body, actor, now } = call
    if (body.confirm !== organizationId) throw notConfirmed(organizationId)
    const answer = await beginEnd(tx, { organizationId, startedBy: actor, reason: body.reason, now })
    return { answer, action: 'organization.end', target: organizationId }
  },
)

/** One bounded step. The service also continues by itself. */
export const continueOrganizationEnd = change(
  `${PATH}/continue`,
  { body: input({}), ...ADMINISTRATOR },
  async (call, tx) => ({ answer: await continueEnd(tx, endableId(call), call.now), logged: true }),
)

export const organizationEndRoutes: readonly Route[] = [readEndPlan, endOrganization, continueOrganizationEnd]

/** Without the organization of the platform no signature of the platform verifies. */
function endableId({ params, context }: OperatorCall<unknown>): string {
  const id = params['organization_id'] ?? ''
  if (id === context.profile['O-42'].organization_id) throw new Problem('not_permitted')
  return id
}

function notConfirmed(organizationId: string): Problem {
  const message = `Repeat the id of the organization: ${organizationId}.`
  return new Problem('validation_failed', { failures: [{ pointer: '/confirm', rule: 'O-20', message }] })
}
