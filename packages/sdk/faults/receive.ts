/** `node -C source packages/sdk/faults/receive.ts`: kills a receiving agent at every step. */

import { parseArgs } from 'node:util'
import { receiveTrial } from './receive-trial.ts'

/** More statements than the life of an agent with two events takes. */
const LAST_STATEMENT = 160
const RANDOM_LIVES = 60

const { values: options } = parseArgs({ options: { quick: { type: 'boolean', default: false } } })
const step = options.quick ? 8 : 1
const started = performance.now()
const line = (text: string) =>
  console.log(`${((performance.now() - started) / 1_000).toFixed(1).padStart(7)} s  ${text}`)
const dieAt = Array.from({ length: Math.floor(LAST_STATEMENT / step) }, (_, i) => 1 + i * step)
await receiveTrial({ dieAt, randomLives: options.quick ? 10 : RANDOM_LIVES, line })
