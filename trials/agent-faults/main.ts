/** `npm run test:faults:agent`: kills a receiving and an answering agent at every step. */

import { parseArgs } from 'node:util'
import type { Death } from './die-before.ts'
import { packageTrial } from './package-trial.ts'
import { receiveTrial } from './receive-trial.ts'
import { timedLines } from '../shared/timed-lines.ts'

/** Until the first event is handled, and for as long as two of them take with all that goes on beside. */
const EVENT_STATEMENTS = { start: 110, handling: 60 } as const
/** From the first attempt on a package until after its answer. */
const PACKAGE_STATEMENTS = { handling: 90 } as const
const RANDOM_LIVES = 60

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
  },
})
const step = options.quick ? 8 : 1
const line = timedLines()
const randomLives = options.quick ? 10 : RANDOM_LIVES

function deaths(statements: Partial<Record<Death['from'], number>>): Death[] {
  return (['start', 'handling'] as const).flatMap((from) =>
    Array.from({ length: Math.floor((statements[from] ?? 0) / step) }, (_, i) => ({
      from,
      statement: 1 + i * step,
    })),
  )
}

if (options.only !== 'packages') await receiveTrial({ dieAt: deaths(EVENT_STATEMENTS), randomLives, line })
if (options.only !== 'events') await packageTrial({ dieAt: deaths(PACKAGE_STATEMENTS), randomLives, line })
