import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { DeskRole } from '@agent-exchange/desk'
import { listDelegations } from '../approvals/delegations.ts'
import { listChanges } from '../people/administration-record.ts'
import { ABSOLUTE_MS, IDLE_MS, LINK_VALID_MS } from '../people/people-limits.ts'
import { addPerson, changeRoles, removePerson, renewLink } from '../people/people.ts'
import { startDesk } from './desk-server.fixture.ts'
import { deskVisitor } from './desk-visitor.fixture.ts'

const command = { kind: 'command', id: 'root' } as const
const desk = await startDesk()
const { db, clock, port, origin, provider, logged } = desk
after(() => desk[Symbol.asyncDispose]())

const now = () => new Date(clock.now())
const invite = async (name: string, ...roles: DeskRole[]) => addPerson(db, now(), { name, roles }, command)
async function signedIn(name: string, ...roles: DeskRole[]) {
  const { link, personId } = await invite(name, ...roles)
  const visitor = deskVisitor(origin)
  assert.equal((await visitor.enter(link)).status, 303)
  return { ...visitor, personId }
}

test('an invited person signs in by the link, once, and signs out', async () => {
  const { link } = await invite('Ida Berg', 'planner')
  const ida = deskVisitor(origin)
  assert.equal((await ida.get('/')).status, 401)
  await ida.get(`/enter?link=${link}`)
  await ida.get(`/enter?link=${link}`)
  const entered = await ida.enter(link)
  assert.equal(entered.headers.get('location'), '/')
  assert.match(entered.headers.getSetCookie().join(), /HttpOnly; SameSite=Strict/u)
  const page = await ida.get('/')
  assert.equal(page.status, 200)
  assert.match(page.text, /Ida Berg.*planner/su)
  assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/u)
  assert.equal((await deskVisitor(origin).enter(link)).status, 410)
  const [token] = [...ida.cookies.values()]
  const stored = JSON.stringify(await db`select t::text from desk_session t`)
  assert.ok(!stored.includes(token ?? 'x') && !stored.includes(link), 'secrets are hashes')
  assert.equal((await ida.post('/sign-out')).status, 303)
  ida.cookies.set(`aex-desk-${port}`, token ?? '')
  assert.equal((await ida.get('/')).status, 401, 'the cookie of an ended session is worth nothing')
})

test('links and sessions end: by age, without use, with a newer link, with the person', async () => {
  const late = await invite('Late', 'reader')
  clock.advance(LINK_VALID_MS / 1_000 + 1)
  assert.equal((await deskVisitor(origin).enter(late.link)).status, 410)
  const idle = await signedIn('Idle', 'reader')
  const busy = await signedIn('Busy', 'reader')
  const removed = await signedIn('Removed', 'reader')
  assert.equal(await removePerson(db, now(), removed.personId, command), true)
  assert.equal((await removed.get('/')).status, 401)
  for (let spent = 0; spent < ABSOLUTE_MS - IDLE_MS; spent += IDLE_MS / 2) {
    clock.advance(IDLE_MS / 2_000)
    assert.equal((await busy.get('/')).status, 200)
  }
  assert.equal((await idle.get('/')).status, 401)
  clock.advance(IDLE_MS / 1_000)
  assert.match((await busy.get('/')).text, /Your session has ended/u)
})

test('an administrator invites, ends sessions and removes people, and all of it is recorded', async () => {
  const admin = await signedIn('Ada', 'administrator')
  const page = await admin.get('/people')
  assert.equal(page.status, 200)
  assert.equal((await admin.post('/people', { name: ' ', reader: 'on' })).status, 422)
  assert.match((await admin.post('/people', { name: 'Kim' })).text, /at least one role/u)
  const made = await admin.post('/people', { name: '<b>Kim</b>', approver: 'on', auditor: 'on' })
  assert.match(made.text, /&lt;b&gt;Kim/u)
  const [, link = ''] = /enter\?link=([\w-]{43})/u.exec(made.text) ?? []
  const kim = deskVisitor(origin)
  assert.equal((await kim.enter(link)).status, 303)
  assert.match((await kim.get('/')).text, /approver, auditor/u)
  assert.equal((await kim.get('/people')).status, 403)
  assert.doesNotMatch((await kim.get('/')).text, /href="\/people"/u)
  const [, session = ''] =
    /Kim.*?\/sessions\/(session_[\w-]+)\/end/su.exec((await admin.get('/sessions')).text) ?? []
  assert.equal((await admin.post(`/sessions/${session}/end`)).status, 303)
  assert.equal((await kim.get('/')).status, 401)
  const [entry] = await db<{ person_id: string }[]>`select person_id from person where name = '<b>Kim</b>'`
  const kimId = entry?.person_id ?? ''
  await admin.get('/people')
  const [, again = ''] =
    /enter\?link=([\w-]{43})/u.exec((await admin.post(`/people/${kimId}/link`)).text) ?? []
  assert.equal((await admin.post(`/people/${kimId}/remove`)).status, 303)
  assert.equal((await admin.post(`/people/${kimId}/remove`)).status, 404)
  assert.equal((await kim.enter(again)).status, 410)
  const changes = (await listChanges(db, { limit: 10 })).rows.filter(
    ({ actor }) => actor.id === admin.personId,
  )
  assert.deepEqual(
    changes.map(({ action }) => action),
    ['person.remove', 'person.link', 'session.end', 'person.add', 'session.start'],
  )
  const record = (await admin.get('/record')).text
  assert.match(record, /Person removed[^]*&lt;b&gt;Kim[^]*Sessions: <bdi>0</u)
  assert.match(record, /Person added[^]*Roles: <bdi>approver, auditor</u)
  assert.doesNotMatch(record, /signed_in_by|&quot;/u, 'details are no JSON')
  await assert.rejects(
    Promise.resolve(db`delete from administration_record`),
    /append-only|append only|refuse/iu,
  )
})

test('lists of more than 500 rows with long names are pages of less than 100 KB, and each row is on one of them', async () => {
  const admin = await signedIn('Olga', 'administrator')
  const name = 'N'.repeat(190)
  const at = now().toISOString()
  const ids = Array.from({ length: 620 }, (_, index) => `person_long_${index}`)
  await db`
    insert into person (person_id, name, roles, added_at)
    select id, ${name} || id, ${['planner', 'auditor']}, ${at} from unnest(${ids}::text[]) as id`
  await db`
    insert into desk_session (session_id, token_hash, person_id, signed_in_by, created_at, last_seen_at, expires_at)
    select 'session_' || id, decode(md5(id), 'hex'), id, 'link', ${at}, ${at}, ${new Date(Date.parse(at) + 3_600_000).toISOString()}
    from unnest(${ids}::text[]) as id`
  await db`
    insert into administration_record (at, actor_kind, actor_id, action, target, details)
    select ${at}, 'person', id, 'person.add', id, ${JSON.stringify({ name })} from unnest(${ids}::text[]) as id`
  for (const path of ['/people', '/sessions', '/record']) {
    const rows = new Set<string>()
    let next: string | undefined = path
    for (let pages = 0; next !== undefined && pages < 20; pages++) {
      const { text }: { text: string } = await admin.get(next)
      assert.ok(Buffer.byteLength(text) < 100_000, `${next}: ${Buffer.byteLength(text)} bytes`)
      for (const [id] of text.matchAll(/person_long_\d+/gu)) rows.add(id)
      next = /href="([^"]+)" rel="next"/u.exec(text)?.[1]
    }
    assert.equal(rows.size, ids.length, path)
    for (const forged of ['99999', '-1.5', 'person_none', "'", '9'.repeat(40)])
      assert.equal((await admin.get(`${path}?after=${forged}`)).status, 200)
  }
})

test('an administrator changes the roles of an invited person, and the change is recorded', async () => {
  const admin = await signedIn('Rita Roles', 'administrator')
  const kim = await signedIn('Kim Planner', 'planner')
  const path = `/people/${kim.personId}`
  const page = (await admin.get(path)).text
  assert.match(page, /name="planner"[^>]*checked/u)
  assert.doesNotMatch(page, /name="approver"[^>]*checked/u)
  assert.match(page, /signed out everywhere, and earlier links stop working[^]*\/link"/u)
  const changed = await admin.post(`${path}/roles`, { approver: 'on', reader: 'on' })
  assert.equal(changed.headers.get('location'), `${path}?done=roles_changed`)
  assert.match((await kim.get('/')).text, /reader, approver/u)
  const { rows } = await listChanges(db, { limit: 1 })
  assert.deepEqual(
    rows.map(({ action, actor, target, details }) => [action, actor.id, target, details]),
    [['person.role', admin.personId, kim.personId, { from: ['planner'], to: ['reader', 'approver'] }]],
  )
  const none = await admin.post(`${path}/roles`)
  assert.deepEqual([none.status, /at least one role/u.test(none.text)], [422, true])
  const ofProvider = 'person_of_provider'
  await db`
    insert into person (person_id, name, roles, issuer, subject, added_at)
    values (${ofProvider}, 'Pia', '{reader}', 'https://id.example', 'pia', now())`
  assert.match((await admin.get(`/people/${ofProvider}`)).text, /groups of the identity provider/u)
  assert.equal((await admin.post(`/people/${ofProvider}/roles`, { administrator: 'on' })).status, 422)
  assert.equal((await admin.get('/people/person_none')).status, 404)
  assert.equal((await admin.post('/people/person_none/roles', { reader: 'on' })).status, 404)
  assert.equal((await kim.get(path)).status, 403)
})

test('the last administrator cannot be removed, and other roles hold at once', async () => {
  await db`update person set removed_at = now() where 'administrator' = any(roles)`
  const admin = await signedIn('Ada Last', 'administrator')
  await admin.get('/people')
  const refused = await admin.post(`/people/${admin.personId}/remove`)
  assert.deepEqual([refused.status, /last administrator/u.test(refused.text)], [422, true])
  const second = await signedIn('Bea', 'reader')
  const by = { actor: command, now: now() }
  await changeRoles(db, second.personId, ['administrator'], by)
  assert.equal((await second.get('/people')).status, 200)
  const outcomes = await Promise.allSettled([
    removePerson(db, now(), admin.personId, command),
    changeRoles(db, second.personId, ['reader'], by),
  ])
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1, 'one of them stays')
})

test('a new link signs the person out everywhere, and the person sees when it was used', async () => {
  const kim = await signedIn('Kim Link', 'approver')
  const { link } = await renewLink(db, now(), kim.personId, command)
  assert.equal((await kim.get('/')).status, 401)
  const [entry] = (await listChanges(db, { limit: 1 })).rows
  assert.deepEqual([entry?.action, entry?.details], ['person.link', { sessions: 1 }])
  const intruder = deskVisitor(origin)
  await intruder.enter(link)
  assert.match((await intruder.get('/passkeys')).text, /A link of an administrator signed you in/u)
})

test('an approver lets a person approve until a day, ends it, and never ends that of another one', async () => {
  const [ida, ole] = [await signedIn('Ida Away', 'approver'), await signedIn('Ole Other', 'approver')]
  const liv = await signedIn('Liv Deputy', 'reader')
  assert.equal((await liv.get('/delegations')).status, 403)
  await ida.get('/delegations')
  const until = new Date(now().getTime() + 86_400_000).toISOString().slice(0, 10)
  const refused = await ida.post('/delegations', { to: liv.personId, until: '2020-01-01' })
  assert.match(refused.text, /at most 92 days/u)
  await ida.get('/delegations')
  const made = await ida.post('/delegations', { to: liv.personId, until })
  assert.equal(made.headers.get('location'), '/delegations?done=delegation_added')
  assert.match((await ida.get('/delegations?done=delegation_added')).text, /approves in your place until/u)
  const page = (await ida.get('/delegations')).text
  assert.match(page, /Liv Deputy/u)
  const [, id = ''] = /delegations\/(delegation_[\w-]+)\/end/u.exec(page) ?? []
  const current = async () => (await listDelegations(db, now())).map(({ delegationId }) => delegationId)
  assert.doesNotMatch((await ole.get('/delegations')).text, new RegExp(id, 'u'))
  assert.equal((await ole.post(`/delegations/${id}/end`)).headers.get('location'), '/delegations')
  assert.deepEqual(await current(), [id])
  const over = await ida.post(`/delegations/${id}/end`)
  assert.equal(over.headers.get('location'), '/delegations?done=delegation_ended')
  assert.deepEqual(await current(), [])
  const [ended, added] = (await listChanges(db, { limit: 2 })).rows
  assert.deepEqual(
    [ended?.action, ended?.actor.id, added?.action, added?.actor.id],
    ['delegation.end', ida.personId, 'delegation.add', ida.personId],
  )
})

test('forms of other sites, other sessions and without a token change nothing', async () => {
  const admin = await signedIn('Eva', 'administrator')
  await admin.get('/people')
  assert.equal((await admin.post('/people', { csrf_token: 'x', name: 'Mallory', reader: 'on' })).status, 403)
  const { link } = await invite('Nora', 'reader')
  const body = new URLSearchParams({ link })
  const other = await fetch(`${origin}/enter`, {
    method: 'POST',
    body,
    headers: { origin: 'https://evil.example' },
  })
  assert.equal(other.status, 403)
  assert.equal((await deskVisitor(origin).enter(link)).status, 303, 'the link was not used up')
})

const signOn = (visitor: ReturnType<typeof deskVisitor>, next = '/') => desk.signOn(visitor, { next })
const passProvider = (start: string) => desk.providerBrowser()(start)

test('a person signs in with the company account, with the roles of the groups at each sign-in', async () => {
  provider.setPerson({
    sub: 'u-1',
    email: 'ida@acme.example',
    email_verified: true,
    groups: ['planning', 'leads'],
  })
  const ida = deskVisitor(origin)
  assert.match((await ida.get('/drafts')).text, /sign-in\/oidc\?next=%2Fdrafts/u)
  const back = await signOn(ida, '/drafts')
  assert.equal(back.status, 200)
  assert.equal(back.headers.get('refresh'), '0; url=/drafts')
  assert.match((await ida.get('/')).text, /ida@acme\.example.*planner, approver/su)
  provider.setPerson({ sub: 'u-1', email: 'ida@acme.example', email_verified: true, groups: ['planning'] })
  const again = deskVisitor(origin)
  await signOn(again)
  assert.doesNotMatch((await ida.get('/')).text, /approver/u, 'a lost group counts in every session')
  const ofProvider = (await listChanges(db, { limit: 20 })).rows.filter(
    ({ actor }) => actor.kind === 'gateway',
  )
  assert.deepEqual(
    ofProvider.map(({ action, actor, details }) => [action, actor.id, details]),
    [
      ['person.role', provider.issuer, { from: ['planner', 'approver'], to: ['planner'] }],
      ['person.add', provider.issuer, { name: 'ida@acme.example', roles: ['planner', 'approver'] }],
    ],
  )
  const rows = await db<{ person_id: string }[]>`select person_id from person where subject = 'u-1'`
  assert.equal(rows.length, 1)
  await removePerson(db, now(), rows[0]?.person_id ?? '', command)
  assert.match((await signOn(deskVisitor(origin))).text, /You were removed/u)
})

test('a sign-in without a role, of another browser, or replayed is refused, and nothing secret is logged', async () => {
  provider.setPerson({ sub: 'u-2', groups: ['strangers'] })
  const refused = await signOn(deskVisitor(origin))
  assert.equal(refused.status, 403)
  assert.match(refused.text, /none of your groups has a role/u)
  provider.setPerson({ sub: 'u-3', groups: ['admins'] })
  const victim = deskVisitor(origin)
  const left = await victim.get('/sign-in/oidc')
  const back = await passProvider(left.headers.get('location') ?? '')
  assert.equal((await deskVisitor(origin).get(back)).status, 403, 'another browser')
  const swapped = new URL(back)
  swapped.searchParams.set('state', 'forged')
  const other = deskVisitor(origin)
  await other.get('/sign-in/oidc')
  assert.match((await other.get(swapped.href)).text, /not valid/u)
  assert.equal((await victim.get(back)).status, 200)
  assert.equal((await victim.get(back)).status, 403, 'a replay')
  const evil = await deskVisitor(origin).get('/sign-in?next=https://evil.example')
  assert.doesNotMatch(evil.text, /evil\.example/u)
  const code = new URL(back).searchParams.get('code') ?? 'none'
  assert.ok(!logged.join('\n').includes(code))
})
