import { RECORDING, type EntryCase, type EntryVerdict } from './entry-case.ts'

const WHAT = 'the response is a package of the recipient'

/** PKG-09: a response is a package of its own, signed as such; its evidence proves that there is one. */
export function verifyResponseEntry({
  entry,
  proved,
  metadata,
  findings,
  packageId,
}: EntryCase): EntryVerdict {
  const responseId = entry.textAt('proof/response_package_id') ?? ''
  const response = proved.get(responseId)
  const about = { packageId, position: entry.value.position }
  if (!response) {
    const word = 'that the package was answered (the response is not in this evidence)'
    return { isSigned: false, word, leadsTo: ['responded'] }
  }
  const faults = [
    response.isAccepted && response.isFromSender ? [] : ['its signatures do not hold'],
    response.metadata.sender_org_id === metadata.recipient_org_id ? [] : ['it comes from somebody else'],
    response.metadata.recipient_org_id === metadata.sender_org_id ? [] : ['it goes to somebody else'],
    response.metadata.responds_to_package_id === packageId ? [] : ['it answers another package'],
  ].flat()
  findings.check(WHAT, faults.length === 0, faults.join(', ') || responseId, about)
  entry.cover('proof/kind', 'proof/response_package_id')
  entry.expect('proof/content_digest', response.metadata.content_digest)
  entry.expectIfPresent('proof/acceptance', response.acceptance)
  const { sender_agent_id: agentId, sender_org_id: organizationId } = response.metadata
  const isSigned = faults.length === 0 && response.isMetadataSigned
  if (!isSigned)
    findings.word('which package a response answers', packageId, { ...about, packageId: responseId })
  return { isSigned, word: RECORDING, facts: { actor: { agentId, organizationId } }, leadsTo: ['responded'] }
}

/** The other way round: a package that says it answers another one is recorded there, where that one is shown. */
export function verifyAnswers(cases: readonly Omit<EntryCase, 'entry'>[]): void {
  const answers = new Map(cases.map((each) => [each.packageId, answersIn(each)]))
  for (const { metadata, packageId, findings } of cases) {
    const { responds_to_package_id: originalId = '' } = metadata
    const recorded = answers.get(originalId)
    if (recorded)
      findings.check('the chain records what it answers', recorded.has(packageId), originalId, { packageId })
  }
}

function answersIn({ entries }: Pick<EntryCase, 'entries'>): ReadonlySet<unknown> {
  const responses = entries.filter(({ value }) => value.proof.kind === 'response_accepted')
  return new Set(responses.map((entry) => entry.at('proof/response_package_id')))
}
