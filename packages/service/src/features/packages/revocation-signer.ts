import type { StatementForm } from '@agent-exchange/crypto'
import type { Database } from '@agent-exchange/database'
import type { Call } from '../../kernel/call.ts'
import { Problem } from '../../kernel/problem.ts'
import { RoleRefusal } from '../../kernel/roles.ts'
import type { PackageRow } from './store.ts'
import { verifyStatement } from './statements.ts'

/** Limit of agents of one organization whose keys share an id. */
const MAXIMUM_CANDIDATES = 16

/** Who signed a revocation, and what the signature covers (O-22). */
export interface RevocationSigner {
  readonly agentId: string
  readonly form: StatementForm
}

/**
 * PKG-10, O-46: a revocation names a key but no agent, and key ids are unique only within an agent. The sending agent is
 * tried first, then the other active agents of the organization; the first one whose key verifies is the signer.
 */
export async function findRevocationSigner(
  call: Call<'revokePackage'>,
  row: PackageRow,
  db: Database,
): Promise<RevocationSigner> {
  const candidates = await findCandidates(call, row, db)
  if (candidates.length === 0) throw new Problem('signing_key_unusable', { reason: 'unknown' })
  const active = candidates.filter(({ status }) => status === 'active')
  if (active.length === 0) throw new Problem('not_permitted', { reason: 'agent_not_active' })
  const { agentId: boundTo } = call.caller
  const own = active.filter(({ agent_id }) => boundTo === undefined || agent_id === boundTo)
  let failure: Problem = new RoleRefusal()
  for (const { agent_id: agentId } of own) {
    try {
      return { agentId, form: await verifyStatement(call, agentId, db) }
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'signature_invalid') throw error
      failure = error
    }
  }
  throw failure
}

function findCandidates(
  { body, context }: Call<'revokePackage'>,
  { sender_org_id, sender_agent_id }: PackageRow,
  db: Database,
) {
  const onlySender = context.profile['O-46'].revocations === 'sending_agent'
  return db<{ agent_id: string; status: string }[]>`
    select agent_id, agent.status from agent join agent_key using (agent_id)
    where organization_id = ${sender_org_id} and key_id = ${body.signature.key_id} and use = 'signing'
      and (agent_id = ${sender_agent_id} or agent.status = 'active' and not ${onlySender})
    order by agent_id <> ${sender_agent_id}, agent_id limit ${MAXIMUM_CANDIDATES}`
}
