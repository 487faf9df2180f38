import { CONVENTION_REQUIREMENTS } from './conventions.ts'
import { EVENT_REQUIREMENTS } from './events.ts'
import { IDENTITY_REQUIREMENTS } from './identity.ts'
import { OBJECT_REQUIREMENTS } from './objects.ts'
import { PACKAGE_REQUIREMENTS } from './packages.ts'
import type { Requirement } from './requirement.ts'

export const REQUIREMENTS: readonly Requirement[] = [
  ...OBJECT_REQUIREMENTS,
  ...CONVENTION_REQUIREMENTS,
  ...IDENTITY_REQUIREMENTS,
  ...PACKAGE_REQUIREMENTS,
  ...EVENT_REQUIREMENTS,
]
