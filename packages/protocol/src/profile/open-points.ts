import { eventPoints } from './events.ts'
import { identityPoints } from './identity.ts'
import { objectPoints } from './objects.ts'
import { packagePoints } from './packages.ts'
import { servicePoints } from './service.ts'

/** Every question that the specification leaves open, by id. O-38 and later are not in its own list. */
export const openPoints = {
  ...objectPoints,
  ...identityPoints,
  ...packagePoints,
  ...eventPoints,
  ...servicePoints,
}

export type OpenPointId = keyof typeof openPoints

export const OPEN_POINT_IDS = (Object.keys(openPoints) as OpenPointId[]).toSorted()
