import type { KeyDirectory, PackageEvidence, PackageMetadata } from '@agent-exchange/protocol'
import type { KeyRecord } from '@agent-exchange/log'
import type { AgentContext } from '../context.ts'

/** Entries and packages with the signatures in them, of either version. */
interface Signed {
  readonly entries: readonly object[]
  readonly packages: readonly { readonly metadata: PackageMetadata }[]
}

/** The signing keys that signatures in the evidence name, each once, with the organization of its agent. */
export async function collectKeys(
  context: AgentContext,
  { entries, packages }: Signed,
  evidence: readonly PackageEvidence[],
): Promise<KeyRecord[]> {
  const named = keyIdsIn([entries, packages])
  const histories = evidence
    .flatMap(({ key_history }) => key_history)
    .filter(({ key }) => key.use === 'signing' && named.has(key.key_id))
  const organizations = new Map(
    packages.flatMap(({ metadata }) => [
      [metadata.sender_agent_id, metadata.sender_org_id],
      [metadata.recipient_agent_id, metadata.recipient_org_id],
    ]),
  )
  const records = new Map<string, KeyRecord>()
  for (const { agent_id, key, events } of histories) {
    const organization_id =
      organizations.get(agent_id) ?? (await directoryOf(context, agent_id)).organization_id
    organizations.set(agent_id, organization_id)
    // Of a key that changed in between, the newest record; two keys under one id would both be kept, and be found.
    const name = JSON.stringify([agent_id, key.key_id, key.public_key])
    records.set(name, { organization_id, agent_id, key, events })
  }
  const { organization_id, agent_id, keys } = await directoryOf(
    context,
    context.deployment.profile['O-42'].agent_id,
  )
  const ofPlatform = keys.filter(({ key_id, use }) => use === 'signing' && named.has(key_id))
  return [...records.values(), ...ofPlatform.map((key) => ({ organization_id, agent_id, key }))]
}

function directoryOf({ connection }: AgentContext, agentId: string): Promise<KeyDirectory> {
  return connection.call('getAgentKeys', { path: { agent_id: agentId } })
}

const KEY_ID_MEMBERS = new Set(['key_id', 'signing_key_id'])

function keyIdsIn(value: unknown): Set<string> {
  const found = new Set<string>()
  const visit = (inner: unknown): void => {
    if (typeof inner !== 'object' || inner === null) return
    for (const [name, member] of Object.entries(inner)) {
      if (KEY_ID_MEMBERS.has(name) && typeof member === 'string') found.add(member)
      visit(member)
    }
  }
  visit(value)
  return found
}
