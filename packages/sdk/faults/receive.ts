/** `node -C source packages/sdk/faults/receive.ts`: kills a receiving agent at every step. */

import { parseArgs } from 'node:util'
import { receiveTrial } from './receive-trial.ts'

/** Until the first event is handled, and for as long as two of them take with all that goes on beside. */
const STATEMENTS = { start: 110, handling: 60 } as const
const RANDOM_LIVES = 60

const { values: options } = parseArgs({ options: { quick: { type: 'boolean', default: false } } })
const step = options.quick ? 8 : 1
const started = performance.now()
const line = (text: string) =>
  console.log(`${((performance.now() - started) / 1_000).toFixed(1).padStart(7)} s  ${text}`)
const dieAt = (['start', 'handling'] as const).flatMap((from) =>
  Array.from({ length: Math.floor(STATEMENTS[from] / step) }, (_, i) => ({ from, statement: 1 + i * step })),
)
await receiveTrial({ dieAt, randomLives: options.quick ? 10 : RANDOM_LIVES, line })
