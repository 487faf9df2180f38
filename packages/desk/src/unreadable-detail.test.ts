import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PROTOCOL_VERSION } from '@agent-exchange/protocol'
import { threadStory, type ThreadPackage } from '@agent-exchange/sdk'
import { MARKUP } from './hostile-object.fixture.ts'
import { storyView } from './story-page.ts'

/** What the page quotes of it is shortened. */
const SHOWN = '&lt;img src=x onerror='

const contents: readonly ThreadPackage['content'][] = [
  { object: { protocol_version: MARKUP } },
  { object: { protocol_version: PROTOCOL_VERSION, object_type: MARKUP } },
  { object: MARKUP },
  { missing: 'cannot_open', code: MARKUP },
]

test('what is said about a package that cannot be read is text, whatever its sender put into it', () => {
  const packages = contents.map((content, index): ThreadPackage => ({
    packageId: `pkg_${index}`,
    state: 'opened',
    sentBy: { organizationId: 'org_seats', agentId: 'agent_seats' },
    sentTo: { organizationId: 'org_cars', agentId: 'agent_cars' },
    sentAt: '2026-11-18T09:00:00.000Z',
    content,
  }))
  const story = threadStory(
    { threadId: 'thread_1', reader: 'org_cars', packages },
    new Date('2026-11-18T10:00:00Z'),
  )
  const viewer = { agentId: 'agent_cars', csrfToken: 'token', canAnswer: true }
  const page = String(storyView(story, { org_seats: MARKUP }, viewer))
  assert.doesNotMatch(page, /<img|<script|\u202e/u)
  // The version, the type, the code, and the name in the address book.
  assert.ok(page.split(SHOWN).length - 1 >= 4, page)
})
