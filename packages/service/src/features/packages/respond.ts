import type { PackageIntake } from './intake.ts'
import { readSubmission } from './submission.ts'

/** PKG-09: an independent package in the same thread that answers the one in the path. */
export const createPackageResponse: PackageIntake<'createPackageResponse'> = (call, db) =>
  readSubmission('createPackageResponse', call, db)
