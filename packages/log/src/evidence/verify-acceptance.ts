import { verifyDetached } from '@agent-exchange/crypto'
import { judgeKey } from './key-verdict.ts'
import { isSigned, reportSignature, type PackageCase } from './package-case.ts'
import type { EntryClaims } from './verify-chain.ts'

/** The statement that the platform signed: what it accepted, under which key, when. */
export async function verifyAcceptance(subject: PackageCase): Promise<boolean> {
  const { entries, ring, platformAgentId, checks, packageId } = subject
  const entry = acceptanceOf(entries)
  const keyId = entry?.textAt('proof/acceptance/signature/key_id') ?? ''
  const key = ring.find(platformAgentId, keyId)
  const acceptedAt = entry?.textAt('proof/acceptance/accepted_at')
  if (!entry || !key || acceptedAt === undefined) {
    const values = { fault: entry ? 'key_unknown' : 'no_signature' } as const
    return checks.fails('acceptance_signature', { package_id: packageId, values })
  }
  const statement = entry.at('proof/acceptance') as object
  const holds = await isSigned(
    ({ publicKey }) => verifyDetached(statement, { member: 'signature', publicKey }),
    key,
  )
  const verdict = judgeKey(key, { claimedAt: acceptedAt, arrivedAt: acceptedAt })
  const { position } = entry.value
  const isAccepted = reportSignature(subject, { code: 'acceptance_signature', holds, verdict, key, position })
  const isAboutThis = verifySubject(subject, entry)
  if (isAccepted) entry.cover('proof/acceptance')
  judgeSendersKey(subject, entry, acceptedAt)
  return isAccepted && isAboutThis
}

export function acceptanceOf(entries: readonly EntryClaims[]): EntryClaims | undefined {
  return entries.find(
    (entry) => entry.value.proof.kind === 'package_accepted' && entry.has('proof/acceptance'),
  )
}

function verifySubject({ metadata, checks, packageId }: PackageCase, entry: EntryClaims): boolean {
  const said: Record<string, string> = {
    statement: 'package_accepted',
    package_id: packageId,
    thread_id: metadata.thread_id,
    content_digest: metadata.content_digest,
  }
  const members = Object.keys(said).filter((name) => entry.at(`proof/acceptance/${name}`) !== said[name])
  const isSame = members.length === 0
  return checks.check('acceptance_subject', isSame, {
    package_id: packageId,
    position: entry.value.position,
    ...(!isSame && { values: { fault: 'differs', members: members.join(', ') } }),
  })
}

/** Evidence holds no content, so the platform alone verified its signature: but the key has to have counted. */
function judgeSendersKey(
  { metadata, ring, checks, packageId }: PackageCase,
  entry: EntryClaims,
  arrivedAt: string,
): void {
  const agent_id = metadata.sender_agent_id
  const key_id = entry.textAt('proof/acceptance/signing_key_id') ?? ''
  const about = { package_id: packageId, position: entry.value.position, agent_id, key_id }
  const key = ring.find(agent_id, key_id)
  if (!key) return void checks.fails('acceptance_key', { ...about, values: { fault: 'key_unknown' } })
  const { result, values } = judgeKey(key, { claimedAt: metadata.created_at, arrivedAt })
  const { organizationId: organization_id } = key.signer
  checks.add('acceptance_key', result, { ...about, values: { organization_id, ...values } })
}
