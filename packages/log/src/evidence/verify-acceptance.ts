import { verifyDetached } from '@agent-exchange/crypto'
import { judgeKey } from './key-verdict.ts'
import { isSigned, reportSignature, type PackageCase } from './package-case.ts'
import { ACCEPTANCE } from './summarize.ts'
import type { EntryClaims } from './verify-chain.ts'

/** The statement that the platform signed: what it accepted, under which key, when. */
export async function verifyAcceptance(subject: PackageCase): Promise<boolean> {
  const { entries, ring, platformAgentId, findings, packageId } = subject
  const entry = acceptanceOf(entries)
  const keyId = entry?.textAt('proof/acceptance/signature/key_id') ?? ''
  const key = ring.find(platformAgentId, keyId)
  const acceptedAt = entry?.textAt('proof/acceptance/accepted_at')
  if (!entry || !key || acceptedAt === undefined) {
    const detail = entry ? 'the signature names no key of the platform' : 'there is no signed acceptance'
    findings.check(ACCEPTANCE, false, detail, { packageId })
    return false
  }
  const statement = entry.at('proof/acceptance') as object
  const holds = await isSigned(
    ({ publicKey }) => verifyDetached(statement, { member: 'signature', publicKey }),
    key,
  )
  const verdict = judgeKey(key, { claimedAt: acceptedAt, arrivedAt: acceptedAt })
  const about = { signer: key.signer, position: entry.value.position }
  const isAccepted = reportSignature(subject, ACCEPTANCE, holds, verdict, about)
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

function verifySubject({ metadata, findings, packageId }: PackageCase, entry: EntryClaims): boolean {
  const said: Record<string, string> = {
    statement: 'package_accepted',
    package_id: packageId,
    thread_id: metadata.thread_id,
    content_digest: metadata.content_digest,
  }
  const differing = Object.keys(said).filter((name) => entry.at(`proof/acceptance/${name}`) !== said[name])
  findings.check(
    'the acceptance is about this package',
    differing.length === 0,
    differing.join(', ') || 'it is',
    {
      packageId,
    },
  )
  return differing.length === 0
}

/** Evidence holds no content, so the platform alone verified its signature: but the key has to have counted. */
function judgeSendersKey(
  { metadata, ring, findings, packageId }: PackageCase,
  entry: EntryClaims,
  arrivedAt: string,
): void {
  const what = 'the key that the platform verified the package with was valid'
  const key = ring.find(metadata.sender_agent_id, entry.textAt('proof/acceptance/signing_key_id') ?? '')
  if (!key) return findings.check(what, false, 'it is no key of the sender', { packageId })
  const { ok, doubt, detail } = judgeKey(key, { claimedAt: metadata.created_at, arrivedAt })
  const { position } = entry.value
  findings.check(what, ok, detail, { packageId, position, doubt, acceptedKey: key.signer })
}
