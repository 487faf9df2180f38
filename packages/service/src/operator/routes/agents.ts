import { Type } from 'typebox'
import type { Transaction } from '../../db/database.ts'
import { findAgent, listAgents, setAgentStatus } from '../../features/agents/agent-store.ts'
import { Problem } from '../../kernel/problem.ts'
import { filter, listPage, pageFields } from '../listing.ts'
import { change, input, optionalReason, read, reason, type OperatorCall, type Route } from '../route.ts'

/** A word of the deployment's own vocabulary (O-05). Only `active` agents receive packages. */
const status = Type.String({
  pattern: '^[a-z][a-z0-9_]{0,63}$',
  description: 'a word of at most 64 lower-case letters, digits and "_"',
})

export const agentRoutes: readonly Route[] = [
  read('/agents', input({ ...pageFields, organization_id: filter }), (call, db) => {
    const organizationId = call.input.organization_id
    const rows = (after: string | undefined, limit: number) =>
      listAgents(db, { organizationId, after, limit })
    return listPage(
      call,
      { name: ['agents', organizationId], rows, position: (row) => row.agent_id },
      ({ skill_versions, ...row }) => ({ ...row, skill_versions: JSON.parse(skill_versions) as object }),
    )
  }),

  change('/agents/:agent_id/status', { body: input({ status, reason }) }, (call, tx) =>
    moveTo(call, tx, 'agent.set-status', { status: call.input.status }),
  ),

  change('/agents/:agent_id/certification', { body: input({ status, reason: optionalReason }) }, (call, tx) =>
    moveTo(call, tx, 'agent.certify', { certificationStatus: call.input.status }),
  ),
]

async function moveTo(
  { params, now, context, input: { status: to } }: OperatorCall<{ status: string }>,
  tx: Transaction,
  action: string,
  values: { status?: string; certificationStatus?: string },
) {
  const target = params['agent_id'] ?? ''
  if (target === context.profile['O-42'].agent_id) throw new Problem('not_permitted')
  const found = await setAgentStatus(tx, target, { ...values, now })
  const agent = found ? await findAgent(tx, target) : undefined
  if (!agent) throw new Problem('resource_not_found')
  const { organization_id, agent_id, status: current, certification_status } = agent
  return {
    answer: { organization_id, agent_id, status: current, certification_status },
    action,
    target,
    details: { status: to },
  }
}
