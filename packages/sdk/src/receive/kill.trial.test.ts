import { test } from 'node:test'
import { receiveTrial } from '../../faults/receive-trial.ts'

// Every step is taken by `node -C source packages/sdk/faults/receive.ts`; here are a few, and some of chance.
const LAST_STATEMENTS = { start: 110, handling: 25 } as const

test(
  '[EVT-14] an agent that is killed with -9 loses nothing and repeats no effect',
  { timeout: 120_000 },
  async (t) => {
    const dieAt = (['start', 'handling', 'handling'] as const).map((from) => {
      return { from, statement: 1 + Math.floor(Math.random() * LAST_STATEMENTS[from]) }
    })
    t.diagnostic(`dies before ${dieAt.map(({ from, statement }) => `${statement} from ${from}`).join(', ')}`)
    await receiveTrial({ dieAt, randomLives: 3, line: (text) => t.diagnostic(text) })
  },
)
