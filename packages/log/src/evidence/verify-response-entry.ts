import type { PackageMetadata } from '@agent-exchange/protocol'
import type { FaultCode } from '../verdict/fault-codes.ts'
import type { EntryCase, EntryVerdict } from './entry-case.ts'
import type { ProvedPackage } from './package-case.ts'

/** PKG-09: a response is a package of its own, signed as such; its evidence proves that there is one. */
export function verifyResponseEntry({ entry, proved, metadata, checks, packageId }: EntryCase): EntryVerdict {
  const responseId = entry.textAt('proof/response_package_id') ?? ''
  const response = proved.get(responseId)
  const about = { package_id: packageId, position: entry.value.position }
  if (!response) return { isSigned: false, claim: 'answered', leadsTo: ['responded'] }
  const fault = faultOf(response, metadata)
  const values = { response: responseId, ...(fault !== undefined && { fault }) }
  const isAnswer = checks.check('response_package', fault === undefined, { ...about, values })
  entry.cover('proof/kind', 'proof/response_package_id')
  entry.expect('proof/content_digest', response.metadata.content_digest)
  entry.expectIfPresent('proof/acceptance', response.acceptance)
  const { sender_agent_id: agentId, sender_org_id: organizationId } = response.metadata
  const isSigned = isAnswer && response.isMetadataSigned
  if (!isSigned) checks.claim('answers', packageId, { package_id: responseId })
  return {
    isSigned,
    claim: 'recording',
    facts: { actor: { agentId, organizationId } },
    leadsTo: ['responded'],
  }
}

function faultOf(
  { isAccepted, isFromSender, metadata: own }: ProvedPackage,
  { package_id, sender_org_id, recipient_org_id }: PackageMetadata,
): FaultCode | undefined {
  if (!isAccepted || !isFromSender) return 'response_unsigned'
  if (own.sender_org_id !== recipient_org_id) return 'response_from_other'
  if (own.recipient_org_id !== sender_org_id) return 'response_to_other'
  return own.responds_to_package_id === package_id ? undefined : 'response_answers_other'
}

/** The other way round: a package that says it answers another one is recorded there, where that one is shown. */
export function verifyAnswers(cases: readonly Omit<EntryCase, 'entry'>[]): void {
  const answers = new Map(cases.map((each) => [each.packageId, answersIn(each)]))
  for (const { metadata, packageId, checks } of cases) {
    const { responds_to_package_id: originalId = '' } = metadata
    const recorded = answers.get(originalId)
    if (recorded)
      checks.check('response_recorded', recorded.has(packageId), {
        package_id: packageId,
        values: { answers: originalId },
      })
  }
}

function answersIn({ entries }: Pick<EntryCase, 'entries'>): ReadonlySet<unknown> {
  const responses = entries.filter(({ value }) => value.proof.kind === 'response_accepted')
  return new Set(responses.map((entry) => entry.at('proof/response_package_id')))
}
