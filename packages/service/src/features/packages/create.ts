import type { BatchMutation } from '../../kernel/call.ts'
import type { AcceptanceState } from './acceptance-state.ts'
import { packageSubmission } from './acceptance.ts'
import type { Submission } from './submission.ts'

/** PKG-01 to PKG-06: a native or ds_x package, in a new or an existing thread. */
export const createPackageTransfer: BatchMutation<'createPackageTransfer', Submission, AcceptanceState> =
  packageSubmission
