import { Type } from 'typebox'
import type { Transaction } from '@agent-exchange/database'
import { findAgent, listAgents, setAgentStatus } from '../../features/agents/agent-store.ts'
import { keyEventsOf } from '../../features/agents/key-history.ts'
import { keysOf } from '../../features/agents/key-store.ts'
import { toAgent } from '../../features/agents/resources.ts'
import { Problem } from '../../kernel/problem.ts'
import { filter, listPage, pageFields } from '../listing.ts'
import { change, input, optionalReason, read, reason, type OperatorCall, type Route } from '../route.ts'

const status = Type.String({ minLength: 1, maxLength: 64 })

export const readAgents = read('/agents', input({ ...pageFields, organization_id: filter }), (call, db) => {
  const organizationId = call.input.organization_id
  const rows = (after: string | undefined, limit: number) => listAgents(db, { organizationId, after, limit })
  return listPage(
    call,
    { name: ['agents', organizationId], rows, position: (row) => row.agent_id },
    ({ skill_versions, ...row }) => ({ ...row, skill_versions: JSON.parse(skill_versions) as object }),
  )
})

/** With its keys and their history. */
export const readAgent = read('/agents/:agent_id', input({}), async ({ params }, db) => {
  const agent = await findAgent(db, params['agent_id'] ?? '')
  if (!agent) throw new Problem('resource_not_found')
  const keys = await keysOf(db, agent.agent_id)
  return { ...toAgent(agent, keys), key_events: await keyEventsOf(db, agent.agent_id) }
})

/** The words of the deployment profile (O-05). */
export const readAgentStatuses = read('/agent-statuses', input({}), async ({ context }) => {
  const { agent_statuses, certification_statuses } = context.profile['O-05']
  return { agent_statuses, certification_statuses }
})

export const changeAgentStatus = change(
  '/agents/:agent_id/status',
  { body: input({ status, reason }) },
  (call, tx) => moveTo(call, tx, 'agent.set-status', 'agent_statuses'),
)

export const certifyAgent = change(
  '/agents/:agent_id/certification',
  { body: input({ status, reason: optionalReason }) },
  (call, tx) => moveTo(call, tx, 'agent.certify', 'certification_statuses'),
)

export const agentRoutes: readonly Route[] = [
  readAgents,
  readAgent,
  readAgentStatuses,
  changeAgentStatus,
  certifyAgent,
]

async function moveTo(
  { params, now, context, input: { status: to } }: OperatorCall<{ status: string }>,
  tx: Transaction,
  action: string,
  vocabulary: 'agent_statuses' | 'certification_statuses',
) {
  const target = params['agent_id'] ?? ''
  if (target === context.profile['O-42'].agent_id) throw new Problem('not_permitted')
  const known = context.profile['O-05'][vocabulary]
  if (!known.includes(to)) {
    const message = `Use one of ${known.join(', ')} (O-05 ${vocabulary}).`
    throw new Problem('validation_failed', { failures: [{ pointer: '/status', rule: 'O-05', message }] })
  }
  const values = vocabulary === 'agent_statuses' ? { status: to } : { certificationStatus: to }
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
