import { test } from 'node:test'
import { packageTrial } from './package-trial.ts'
import { receiveTrial } from './receive-trial.ts'

// Every step is taken by `npm run test:faults:agent`; here are a few, and some of chance.
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

const LAST_PACKAGE_STATEMENT = 60

test(
  '[EVT-14][PKG-09] an answering agent that is killed with -9 handles and answers each package once',
  { timeout: 120_000 },
  async (t) => {
    const dieAt = Array.from({ length: 4 }, () => ({
      from: 'handling' as const,
      statement: 1 + Math.floor(Math.random() * LAST_PACKAGE_STATEMENT),
    }))
    t.diagnostic(`dies before ${dieAt.map(({ statement }) => statement).join(', ')} from handling`)
    await packageTrial({ dieAt, randomLives: 2, line: (text) => t.diagnostic(text) })
  },
)
