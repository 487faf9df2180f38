import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { threadStory, type ThreadObjects } from '@agent-exchange/sdk'
import { matches, type SearchQuery } from './search-threads.ts'

const EXAMPLE = join(import.meta.dirname, '../../sdk/src/story/examples/closed-loop.json')
const { now, thread } = JSON.parse(readFileSync(EXAMPLE, 'utf8')) as { now: string; thread: ThreadObjects }
const story = threadStory(thread, new Date(now))
const nameOf = (id: string) => (id === 'org_seats' ? 'Seats Ltd' : '')
const isFound = (query: Partial<SearchQuery>, people: readonly string[] = []) =>
  matches({ story, thread }, { company: '', person: '', text: '', ...query }, { nameOf, people })

test('a conversation is found by the company, an agent or an approver, its state and any text of it', () => {
  for (const query of [
    { company: 'seats LTD' },
    { company: 'org_seats' },
    { person: 'agent_' },
    { state: 'decided' },
    { text: 'AIR FREIGHT' },
    { text: 'rails', state: 'agreed', company: 'seats' },
  ] as const)
    assert.ok(isFound(query), JSON.stringify(query))
  assert.ok(isFound({ person: 'ida' }, ['Ida Example']))
})

test('all conditions have to hold, and the own company is not one to search for', () => {
  for (const query of [
    { company: 'carmaker' },
    { person: 'Ida' },
    { text: 'titanium' },
    { state: 'due_from_us' },
    { dueBy: '2026-01-01' },
    { text: 'rails', state: 'due_from_others' },
  ] as const)
    assert.ok(!isFound(query), JSON.stringify(query))
})
