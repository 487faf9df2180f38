import type { AgentContext } from '../context.ts'
import type { Drafts } from '../drafts/draft.ts'
import { approvalsOfApprover } from '../drafts/draft-approvals.ts'
import { openDrafts, type DraftsOptions } from '../drafts/open-drafts.ts'
import { readApprover } from './approver-file.ts'
import { openDraftFiles } from './draft-files.ts'

export interface FolderDraftsOptions extends Omit<DraftsOptions, 'store' | 'approvals'> {
  readonly files: { readonly drafts: string; readonly approver: string }
}

/** The drafts in an agent's folder. */
export function openFolderDrafts(context: AgentContext, options: FolderDraftsOptions): Drafts {
  const { files, ...how } = options
  return openDrafts(context, {
    ...how,
    store: openDraftFiles(files.drafts),
    approvals: approvalsOfApprover(() => readApprover(files.approver)),
  })
}
