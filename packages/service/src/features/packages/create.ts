import type { PackageIntake } from './intake.ts'
import { readSubmission } from './submission.ts'

/** PKG-01 to PKG-06: native or ds_x, into a new or a running thread. */
export const createPackageTransfer: PackageIntake<'createPackageTransfer'> = (call, db) =>
  readSubmission('createPackageTransfer', call, db)
