import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ExchangeError, type ThreadStory } from '@agent-exchange/sdk'
import type { DeskAgent } from './desk-agent.ts'
import { evidenceSection } from './evidence-part.ts'
import { VERDICT_WAIT_MS } from './desk-limits.ts'
import { createThreadVerdicts } from './thread-verdicts.ts'

test('evidence that cannot be collected is shown with its reason, and the next page tries again', async () => {
  let calls = 0
  const agent = {
    async evidence() {
      calls++
      throw new ExchangeError('exchange_unreachable')
    },
  } as unknown as DeskAgent
  const [verdicts, now] = [createThreadVerdicts(agent), new Date()]
  const together = await Promise.all([verdicts.find('thread_1', [], now), verdicts.find('thread_1', [], now)])
  assert.equal(calls, 1, 'pages at the same time share one attempt')
  const [failed] = together
  assert.ok(failed instanceof ExchangeError)
  await verdicts.find('thread_1', [], now)
  assert.equal(calls, 2, 'a failure is not remembered')
  const story = { threadId: 'thread_1' } as ThreadStory
  const shown = String(evidenceSection(story, failed, { csrfToken: '', canDisclose: true }))
  assert.match(shown, /could not be collected[^]*exchange_unreachable/u)
  assert.doesNotMatch(shown, /being verified|capsule\.json|with-content/u)
  const late = String(evidenceSection(story, 'late', { csrfToken: '', canDisclose: false }))
  assert.match(late, /still being verified[^]*capsule\.json/u)
})

test('a failure that takes longer than a page waits is shown on the next page', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const answers: PromiseWithResolvers<never>[] = []
  const agent = {
    evidence() {
      const answer = Promise.withResolvers<never>()
      answers.push(answer)
      return answer.promise
    },
  } as unknown as DeskAgent
  const [verdicts, now] = [createThreadVerdicts(agent), new Date()]
  const first = verdicts.find('thread_1', [], now)
  t.mock.timers.tick(VERDICT_WAIT_MS)
  assert.equal(await first, 'late')
  answers[0]?.reject(new ExchangeError('exchange_unreachable'))
  assert.ok((await verdicts.find('thread_1', [], now)) instanceof ExchangeError)
  assert.equal(answers.length, 1)
})
