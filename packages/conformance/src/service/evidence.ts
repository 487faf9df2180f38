import type { Context } from '../run/context.ts'
import { succeeded } from '../run/expect.ts'
import type { Draft } from './draft.ts'
import { pathOf } from './operations.ts'

export const evidencePaths = ({ threadId, packageId }: Pick<Draft, 'threadId' | 'packageId'>) => [
  pathOf('getThreadAuditEvidence', { thread_id: threadId }),
  pathOf('getPackageAuditEvidence', { package_id: packageId }),
]

/** Whether the sender finds an audit event. Which of the two kinds of evidence shows it is an open point (O-07). */
export function isInEvidence(
  { sender, eventually }: Context,
  draft: Pick<Draft, 'threadId' | 'packageId'>,
  eventId: unknown,
): Promise<boolean> {
  const read = async () => {
    const answers = []
    for (const path of evidencePaths(draft))
      answers.push(succeeded(await sender.organization.call('GET', path), 200, 'a party reading evidence'))
    return answers.some(({ text }) => text.includes(`"${String(eventId)}"`))
  }
  return eventually(read, (isFound) => isFound)
}
