import type { Database } from '../../db/database.ts'
import type { Call } from '../../kernel/call.ts'
import type { PackageOperation, Submission } from './submission.ts'

/** The two operations that hand in a package: what they read goes to the acceptance, which commits in groups. */
export type PackageIntake<Id extends PackageOperation> = (call: Call<Id>, db: Database) => Promise<Submission>
