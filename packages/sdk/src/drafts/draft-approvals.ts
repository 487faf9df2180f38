import { requireApproval, type Approver } from './approval.ts'
import type { DraftRecord } from './draft-store.ts'

/** A draft as it was read, with the digest of what will be sealed. */
export interface DraftSubject {
  readonly record: DraftRecord
  readonly digest: string
}

/** How long an approval permits sending, and the time now. */
export interface ApprovalTimes {
  readonly now: Date
  readonly maximumAgeMs: number
}

/** Who decides about drafts, and what proves a decision. */
export interface DraftApprovals {
  /** Whether the draft needs a person whatever its policy says. */
  isRequired(subject: DraftSubject): Promise<boolean>
  isDecided(subject: DraftSubject): Promise<boolean>
  /** Fails with `approver_missing`, `approval_waiting`, `approval_declined` or `approval_invalid`. */
  require(
    subject: DraftSubject,
    times: ApprovalTimes,
  ): Promise<{ readonly reference: string; readonly approvedAt: string }>
}

/** One registered approver, whose signed decision is kept with the draft. */
export function approvalsOfApprover(approver: () => Promise<Approver | undefined>): DraftApprovals {
  return {
    isRequired: async () => (await approver())?.approves === 'every_draft',
    isDecided: async ({ record }) => record.decision !== undefined,
    async require({ record, digest }, times) {
      const { approval_reference, decided_at } = await requireApproval({
        draftId: record.draft_id,
        draftDigest: digest,
        decision: record.decision,
        approver: await approver(),
        ...times,
      })
      return { reference: approval_reference, approvedAt: decided_at }
    },
  }
}
