import type { Mutant } from './mutant.ts'
import { CONVENTION_MUTANTS } from './of-conventions.ts'
import { EVENT_MUTANTS } from './of-events.ts'
import { IDENTITY_MUTANTS } from './of-identity.ts'
import { PACKAGE_MUTANTS } from './of-packages.ts'

/** At least one broken rule for each requirement that is judged of a service. */
export const MUTANTS: readonly Mutant[] = [
  ...CONVENTION_MUTANTS,
  ...IDENTITY_MUTANTS,
  ...PACKAGE_MUTANTS,
  ...EVENT_MUTANTS,
]
