import type { BatchMutation } from '../../kernel/call.ts'
import type { AcceptanceState } from './acceptance-state.ts'
import { packageSubmission } from './acceptance.ts'
import type { Submission } from './submission.ts'

/** PKG-09: an independent package in the same thread that answers the package in the path. */
export const createPackageResponse: BatchMutation<'createPackageResponse', Submission, AcceptanceState> =
  packageSubmission
