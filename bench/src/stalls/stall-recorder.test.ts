import { test } from 'node:test'
import { until } from '@agent-exchange/testkit/until'
import { sharedNow } from '../processes/shared-clock.ts'
import { recordStalls, type Interval } from './stall-recorder.ts'

const BLOCKED_MS = 60

test('a blocked event loop is recorded with its time', async (t) => {
  const recorder = recordStalls()
  t.after(() => recorder.stop())
  const from = sharedNow()
  while (sharedNow() < from + BLOCKED_MS);
  const to = sharedNow()
  const seen: Interval[] = []
  const longest = () => Math.max(0, ...seen.map((each) => Math.min(to, each.to) - Math.max(from, each.from)))
  await until('the stall is recorded', () => {
    seen.push(...recorder.take().blocked)
    return longest() > BLOCKED_MS / 2
  })
})
