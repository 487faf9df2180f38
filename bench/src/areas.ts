import type { Area } from './area.ts'
import { deliveryArea } from './delivery/delivery.ts'
import { diskArea } from './disk/disk.ts'
import { endToEndArea } from './end-to-end/end-to-end.ts'
import { fairnessArea } from './fairness/fairness.ts'
import { gatewayArea } from './gateway/gateway.ts'
import { growthArea } from './growth/growth.ts'
import { logArea } from './log/log.ts'
import { memoryArea } from './memory/memory.ts'
import { packagesArea } from './packages/packages.ts'
import { peersArea } from './peers/peers.ts'
import { requestsArea } from './requests/requests.ts'
import { sizingArea } from './sizing/sizing.ts'
import { startupArea } from './startup/startup.ts'
import { steadyArea } from './steady/steady.ts'

/** In the order in which they run: the peers are compared with figures of earlier areas. */
export const AREAS: readonly Area[] = [
  packagesArea,
  requestsArea,
  deliveryArea,
  endToEndArea,
  fairnessArea,
  logArea,
  startupArea,
  memoryArea,
  steadyArea,
  gatewayArea,
  peersArea,
  growthArea,
  diskArea,
  sizingArea,
]
