import { test } from 'node:test'
import { receiveTrial } from '../../faults/receive-trial.ts'

// Every step is taken by `node -C source packages/sdk/faults/receive.ts`; here are a few, and some of chance.
const LAST_STATEMENT = 150

test(
  '[EVT-14] an agent that is killed with -9 loses nothing and repeats no effect',
  { timeout: 120_000 },
  async (t) => {
    const dieAt = Array.from({ length: 3 }, () => 1 + Math.floor(Math.random() * LAST_STATEMENT))
    t.diagnostic(`dies before statements ${dieAt.join(', ')}`)
    await receiveTrial({ dieAt, randomLives: 3, line: (text) => t.diagnostic(text) })
  },
)
