import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { threadStory, type ThreadPackage } from '@agent-exchange/sdk'
import { storyText } from '@agent-exchange/sdk/internal'
import { agreement, alignedStory, challenge, decision, demandChange, demoNames } from './story-objects.ts'

const manufacturer = { organizationId: 'org_carmaker', agentId: 'agent_carmaker' }
const supplier = { organizationId: 'org_seats', agentId: 'agent_seats' }
const parties = { manufacturer, supplier }
const threadId = 'thread_demo'

test('the story of the demo is its text', () => {
  const at = (minute: number) => new Date(Date.UTC(2026, 6, 1, 8, minute))
  const packages: ThreadPackage[] = []
  const send = (object: object, change: Partial<ThreadPackage> = {}) => {
    const number = packages.length + 1
    const isAnswer = change.respondsTo !== undefined
    packages.push({
      packageId: `pkg_${number}`,
      state: 'opened',
      sentBy: isAnswer ? supplier : manufacturer,
      sentTo: isAnswer ? manufacturer : supplier,
      sentAt: at(number).toISOString(),
      content: { object },
      ...change,
    })
  }
  const shared = demandChange(parties, threadId, at(1))
  send(shared, { state: 'responded' })
  send(challenge(parties, { threadId, packageId: shared.id }, at(2)), { respondsTo: 'pkg_1' })
  const deciding = decision(parties, threadId, at(3))
  send(deciding, { state: 'responded' })
  send(agreement(parties, { threadId, packageId: deciding.id }, at(4)), { respondsTo: 'pkg_3' })
  send(alignedStory(parties, { threadId, objects: [shared, deciding] }, at(5)))
  send(decision(parties, threadId, at(6)), { state: 'revoked' })
  const story = threadStory({ threadId, reader: manufacturer.organizationId, packages }, at(10))
  const text = storyText(story, { names: demoNames(parties) })
  assert.equal(text, readFileSync(join(import.meta.dirname, 'demo-story.txt'), 'utf8'))
})
