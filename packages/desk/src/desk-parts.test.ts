import assert from 'node:assert/strict'
import { test } from 'node:test'
import { schemaDocument } from '@agent-exchange/protocol'
import { pathTo } from './desk-call.ts'
import {
  LINK_VALID_MS,
  MAXIMUM_SESSIONS,
  PASSPHRASE_PERIOD_MS,
  REMEMBERED_LINKS,
  SESSION_VALID_MS,
} from './desk-limits.ts'
import { AGENT_ROUTES, routeOf as routeIn } from './desk-routes.ts'
import { createFolderSessions, type FolderSessions } from './folder-sessions.ts'
import { createPassphraseTries, TooManyTries } from './passphrase-tries.ts'
import { membersFrom } from './form-members.ts'
import { formParts } from './schema-form.ts'

const routeOf = (method: string, path: string) => routeIn(AGENT_ROUTES, method, path)

test('a link signs in once, and says why it does not any more', () => {
  let now = 0
  const sessions = createFolderSessions(() => now)
  assert.deepEqual(sessions.enter(''), { fault: 'unknown' })
  const link = sessions.newLink()
  assert.deepEqual(sessions.enter(`${link}x`), { fault: 'unknown' })
  const session = entered(sessions, link)
  assert.ok(sessions.isValid(session))
  assert.deepEqual(sessions.enter(link), { fault: 'used' })
  const replaced = sessions.newLink()
  const next = sessions.newLink()
  assert.deepEqual(sessions.enter(replaced), { fault: 'replaced' })
  now += LINK_VALID_MS + 1
  assert.deepEqual(sessions.enter(next), { fault: 'expired' })
  assert.equal(sessions.since(session), new Date(0).toISOString())
  for (let count = 0; count < REMEMBERED_LINKS; count++) entered(sessions)
  assert.deepEqual(sessions.enter(link), { fault: 'unknown' }, 'a limited number is remembered')
  now += SESSION_VALID_MS
  assert.ok(!sessions.isValid(session))
  assert.ok(!sessions.isValid(undefined))
})

test('the number of sessions is limited; the oldest ends', () => {
  const sessions = createFolderSessions(() => 0)
  const all = Array.from({ length: MAXIMUM_SESSIONS + 1 }, () => entered(sessions))
  assert.deepEqual(
    all.map((session) => sessions.isValid(session)),
    all.map((_session, index) => index > 0),
  )
})

function entered(sessions: FolderSessions, link = sessions.newLink()): string {
  const made = sessions.enter(link)
  return 'session' in made ? made.session : ''
}

test('five wrong passphrases end the tries for a period, also when they come at once', async () => {
  let now = 0
  let tried = 0
  const wrong = new Error('wrong')
  const tries = createPassphraseTries(
    () => now,
    (error) => error === wrong,
  )
  const attempt = (error?: Error) =>
    tries.attempt(async () => {
      tried += 1
      if (error) throw error
    })
  await assert.rejects(attempt(new Error('another failure')))
  for (let count = 0; count < 4; count++) await assert.rejects(attempt(wrong), wrong)
  await attempt()
  assert.equal(tried, 6, 'a right one starts the count again')
  const burst = await Promise.allSettled(Array.from({ length: 20 }, () => attempt(wrong)))
  assert.equal(tried, 11)
  assert.equal(
    burst.filter((each) => each.status === 'rejected' && each.reason instanceof TooManyTries).length,
    15,
  )
  await assert.rejects(attempt(), TooManyTries, 'the right one neither')
  assert.equal(tries.waitMs(), PASSPHRASE_PERIOD_MS)
  now += PASSPHRASE_PERIOD_MS
  await attempt()
})

test('the form of an answer has a field for every member of the schema that a person fills in', () => {
  const parts = formParts(schemaDocument('response_object'), new Set(['boundaries.disclosure_level']))
  const names = new Set(
    parts.flatMap((part) => ('parts' in part ? part.parts.map(({ name }) => name) : [part.name])),
  )
  for (const name of [
    'response_actions',
    'response_summary',
    'agreement.agrees_with_sender_summary',
    'agreement.challenged_points',
    'added_facts.statement',
    'options.summary',
    'recipient_request.deadline',
    'boundaries.not_disclosed',
  ])
    assert.ok(names.has(name), name)
  assert.ok(!names.has('boundaries.disclosure_level'))
  assert.ok(!names.has('options.option_id'), 'ids are made')
  const fields = new URLSearchParams([
    ['response_actions.challenge', 'on'],
    ['response_actions.forged', 'on'],
    ['response_summary', ' One can wait. '],
    ['agreement.agrees_with_sender_summary', 'no'],
    ['agreement.challenged_points', 'both\r\n\r\n short '],
    ['options.rows', '3'],
    ['options.0.summary', 'A first'],
    ['options.2.summary', 'B first'],
    ['__proto__', 'x'],
  ])
  const filled = parts.filter(({ name }) => /^(?:response_|agreement|options|added)/u.test(name))
  assert.deepEqual(
    membersFrom(filled, fields, (member) => `${member}_1`),
    {
      response_actions: ['challenge'],
      response_summary: 'One can wait.',
      agreement: { agrees_with_sender_summary: false, challenged_points: ['both', 'short'] },
      options: [
        { option_id: 'option_id_1', summary: 'A first' },
        { option_id: 'option_id_1', summary: 'B first' },
      ],
    },
  )
})

test('addresses have ids of the protocol and nothing else', () => {
  assert.equal(routeOf('GET', '/drafts/..%2f..'), undefined)
  assert.equal(routeOf('GET', `/threads/${'x'.repeat(201)}`), undefined)
  assert.equal(routeOf('GET', '/drafts/draft_1/decide'), 'wrong_method')
  assert.ok(typeof routeOf('POST', '/drafts/draft_1/decide') === 'object')
})

test('[O-14] a package is addressed by any id that the exchange accepts, and by no other', () => {
  for (const id of ['7', 'urn:uuid:7', 'a+b&c=d', '$(reboot)', '\\"<', 'x'.repeat(200)]) {
    const path = pathTo('packages', id, '/answer/accept')
    const route = routeOf('GET', path)
    assert.ok(typeof route === 'object', path)
    assert.equal(route.id, id)
  }
  for (const encoded of ['..', '%2e%2e', 'a%2Fb', '%00', '%zz', '%E0%A4', 'a%20b'])
    assert.equal(routeOf('GET', `/evidence/${encoded}`), undefined, encoded)
})
