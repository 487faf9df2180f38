import type { Answers } from './answers.ts'
import { byDeadline, deadlineAt } from './deadline.ts'
import { isOf, type CountedPackage } from './readable-package.ts'
import type { DueAnswer } from './story-types.ts'

/** Required answers that the recipient has not given, the next deadline first. */
export function dueAnswers(
  counted: readonly CountedPackage[],
  answers: Answers,
  { reader, now }: { readonly reader: string; readonly now: Date },
): readonly DueAnswer[] {
  return counted
    .filter(isOf('reasoning_package'))
    .flatMap(({ object, record, source, quote }): DueAnswer[] => {
      const { required, deadline, expected_response_types: expected } = object.response_required
      const owedBy = record.sentTo.organizationId
      const at = deadlineAt(deadline, now)
      const isAnswered = record.state === 'responded' || answers.isAnswered(record.packageId, owedBy)
      if (!required || !at || isAnswered) return []
      return [
        {
          packageId: record.packageId,
          source,
          request: quote(object.intent.recipient_request),
          owedBy,
          isReaders: owedBy === reader,
          deadline: at,
          expected: expected.map(quote),
        },
      ]
    })
    .toSorted(byDeadline)
}
