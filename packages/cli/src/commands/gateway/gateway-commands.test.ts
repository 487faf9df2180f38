import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openDatabase } from '@agent-exchange/database'
import { emptyTestDatabase } from '@agent-exchange/testkit'
import { aexAt, aexHere } from '../../aex-here.fixture.ts'
import { unknownGatewayVariables } from '../../agent/client-variables.ts'

const folder = mkdtempSync(join(tmpdir(), 'aex-gateway-'))
const database = await emptyTestDatabase()
const db = openDatabase({ target: database.url, maximumConnections: 1, applicationName: 'test' })
after(async () => {
  await db.end()
  await database[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})
const env = {
  AEX_GATEWAY_DATABASE_URL: database.url,
  AEX_GATEWAY_MASTER_KEY: '01'.repeat(32),
  AEX_GATEWAY_DATA_DIR: folder,
  AEX_GATEWAY_PUSH_HOSTS: 'erp.company.example, 10.0.0.5:8443',
}
const gateway = (...args: string[]) => aexAt({ env }, 'gateway', ...args)
const document = async (...args: string[]) => {
  const { code, stdout, stderr } = await gateway(...args, '--json')
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}

before(async () => {
  assert.equal((await gateway('init')).code, 0)
  await db`insert into gateway_agent (agent_id, organization_id, base_url, client_id, added_at)
           values ('agent_a', 'org_a', 'https://exchange.example', 'client_a', now())`
})

test('the key of a system is shown once, and ends when it is revoked', async () => {
  const added = await gateway('system', 'add', 'erp', '--agent', 'agent_a', '--may', 'draft,send')
  assert.match(added.stdout, /^erp may draft, send for agent_a\.\n {2}key {5}aexg_[\w-]{43} /u)
  const [key] = /aexg_[\w-]{43}/u.exec(added.stdout) ?? []
  const listed = await gateway('system', 'list')
  assert.match(
    listed.stdout,
    /^erp {2}aexg_[\w-]{4}… {2}system_\S+\n {2}may draft, send for agent_a; never used$/mu,
  )
  assert.ok(key !== undefined && !listed.stdout.includes(key))
  const [{ system_id: systemId }] = await document('system', 'list')
  assert.deepEqual(await document('system', 'revoke', systemId), { system_id: systemId, revoked: true })
  assert.match((await gateway('system', 'list')).stdout, /; revoked /u)
})

test('an unknown agent, verb or system is refused with what to do', async () => {
  for (const [args, sentence] of [
    [['system', 'add', 'x', '--agent', 'agent_b', '--may', 'read'], /no agent_b\. List its agents: /u],
    [['system', 'add', 'x', '--agent', '*', '--may', 'approve'], /Use read, draft, send, revoke, inbox/u],
    [['system', 'revoke', 'system_none'], /no system_none\. List systems: /u],
    [['policy', 'add', join(folder, 'none.json'), '--agent', 'agent_a'], /cannot be read\. Write one: /u],
    [
      ['push', 'set', 'https://elsewhere.example/x', '--agent', 'agent_a'],
      /not listed\. .* AEX_GATEWAY_PUSH_HOSTS/u,
    ],
    [['agent', 'import', join(folder, 'none')], /no agent in this folder/u],
    [['push', 'remove', '--agent', 'agent_a'], /Nothing is pushed for agent_a/u],
    [['hold', 'release', 'thread_x', '--agent', 'agent_a', '--by', 'Ida', '--reason', 'x'], /is not held/u],
  ] as const) {
    const { code, stderr } = await gateway(...args)
    assert.equal(code, 1, args.join(' '))
    assert.match(stderr, sentence)
  }
  assert.deepEqual(await document('push', 'list'), [])
})

const POLICY_PARTIES = ['--org', 'org_a', '--agent', 'agent_a', '--to', 'org_b']

test('policies that systems may choose are added, listed and removed', async () => {
  const made = await aexHere('new', 'policy_envelope', ...POLICY_PARTIES)
  const file = join(folder, 'policy.json')
  writeFileSync(file, made.stdout)
  const { policy_id: policyId } = await document('policy', 'add', file, '--agent', 'agent_a')
  assert.match(
    (await gateway('policy', 'list', '--agent', 'agent_a')).stdout,
    new RegExp(`^${policyId} `, 'u'),
  )
  assert.equal((await gateway('policy', 'remove', policyId, '--agent', 'agent_a')).code, 0)
  writeFileSync(file, '{"object_type":"policy_envelope"}')
  const refused = await gateway('policy', 'add', file, '--agent', 'agent_a')
  assert.match(refused.stderr, /no valid policy_envelope\. Check it with aex validate/u)
})

test('packages are pushed to a listed host, and a hold is placed and released', async () => {
  const set = await document('push', 'set', 'https://10.0.0.5:8443/in', '--agent', 'agent_a')
  assert.match(set.secret, /^whsec_/u)
  assert.doesNotMatch((await gateway('push', 'list')).stdout, /whsec_/u)
  const next = await document('push', 'set', 'https://10.0.0.5:8443/next', '--agent', 'agent_a')
  const [{ endpoint_id: used }, ...others] = await document('push', 'list')
  assert.deepEqual([used, others], [next.endpoint_id, []], 'it replaces the former one')
  assert.equal((await gateway('push', 'remove', '--agent', 'agent_a')).code, 0)
  const change = ['thread_1', '--agent', 'agent_a', '--by', 'Ida', '--reason', 'case 14']
  assert.equal((await document('hold', 'place', ...change)).is_new, true)
  assert.match((await gateway('hold', 'list', '--agent', 'agent_a')).stdout, /^thread_1 .* Ida: case 14$/mu)
  assert.equal((await document('hold', 'release', ...change)).held, false)
})

test('[AUD-01] names of organizations are set for every agent, listed and removed', async () => {
  assert.equal((await gateway('name')).stdout, 'No organization has a name.\n')
  assert.equal((await gateway('name', 'org_b', 'Bolts & Söhne')).stdout, 'org_b  Bolts & Söhne\n')
  assert.match((await gateway('name', 'org_b', 'B\u202e')).stderr, /control or format characters/u)
  assert.deepEqual(await document('name'), { org_b: 'Bolts & Söhne' })
  assert.deepEqual(await document('name', 'org_b', '--remove'), {})
})

test('settings of the gateway that do not fit together are refused at start', async () => {
  const wrong = async (variables: Record<string, string>) =>
    (await aexAt({ env: { ...env, ...variables } }, 'gateway', 'init')).stderr
  assert.match(await wrong({ AEX_GATEWAY_TOKEN_ISSUER: 'https://id.example' }), /AEX_GATEWAY_TOKEN_AUDIENCE/u)
  assert.match(await wrong({ AEX_GATEWAY_TOKEN_AUDIENCE: 'api' }), /AEX_GATEWAY_TOKEN_ISSUER/u)
  assert.match(await wrong({ AEX_GATEWAY_PUSH_HOSTS: 'https://erp.example/x' }), /is not a host/u)
  assert.match(await wrong({ AEX_PKCS11_TOKEN: 'aex' }), /AEX_PKCS11_MODULE/u)
})

test('rules of approval are added, listed in words and removed', async () => {
  const add = ['rule', 'add', '--partner', 'org_cars', '--sensitivity', 'confidential', '--people', '2']
  const added = await document(...add, '--by', 'Ida Berg')
  assert.deepEqual([added.partner, added.people, added.approvers], ['org_cars', 2, []])
  assert.match(
    (await gateway('rule', 'list')).stdout,
    /2 people for drafts for org_cars with a fact that is confidential or more; by Ida Berg/u,
  )
  const refused = await gateway('rule', 'add', '--people', '9', '--by', 'Ida Berg')
  assert.match(refused.stderr, /from 1 to 5/u)
  const removed = await document('rule', 'remove', added.rule_id, '--by', 'Ole Dahl')
  assert.deepEqual(removed, { rule_id: added.rule_id, removed: true })
  assert.match((await gateway('rule', 'list')).stdout, /^No rules: one approver is enough/u)
  const again = await gateway('rule', 'remove', added.rule_id, '--by', 'Ole Dahl')
  assert.match(again.stderr, /List rules: /u)
})

test('a delegation has an end, and can end earlier', async () => {
  const strangers = ['--from', 'person_a', '--to', 'person_b', '--until', '2026-12-24', '--by', 'Ida Berg']
  assert.match((await gateway('delegation', 'add', ...strangers)).stderr, /no such person/u)
  const refused = await gateway('rule', 'add', '--approver', 'person_a', '--by', 'Ida Berg')
  assert.match(refused.stderr, /no such person/u)
  const { person_id: from } = await document('person', 'add', 'Ole', '--role', 'approver')
  const { person_id: to } = await document('person', 'add', 'Liv', '--role', 'planner')
  const people = ['--from', from, '--to', to, '--by', 'Ida Berg'] as const
  const past = await gateway('delegation', 'add', ...people, '--until', '2020-01-01')
  assert.match(past.stderr, /at most 92 days from now/u)
  const day = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)
  const { delegation_id: id } = await document('delegation', 'add', ...people, '--until', day)
  assert.match((await gateway('delegation', 'list')).stdout, /person_\S+ for person_\S+ until/u)
  assert.deepEqual(await document('delegation', 'end', id), { delegation_id: id, ended: true })
  assert.deepEqual(await document('delegation', 'list'), [])
  for (const person of [from, to]) await gateway('person', 'remove', person)
})

test('the master key is rotated: everything is encrypted under the new one, and nothing is left', async () => {
  await document('push', 'set', 'https://10.0.0.5:8443/in', '--agent', 'agent_a')
  const rotated = { ...env, AEX_GATEWAY_MASTER_KEY: '02'.repeat(32) }
  const both = { ...rotated, AEX_GATEWAY_MASTER_KEY_PREVIOUS: env.AEX_GATEWAY_MASTER_KEY }
  const status = await aexAt({ env: both }, 'gateway', 'master-key', 'status')
  assert.match(status.stdout, /^secrets of push endpoints: [1-9]\d* left$/mu)
  await db`insert into gateway_instance values ('instance_old', '{0000000000000000}', now())`
  const refused = await aexAt({ env: both }, 'gateway', 'master-key', 'rotate')
  assert.match(refused.stderr, /1 running instances lack the current master key/u)
  await db`delete from gateway_instance`
  const done = await aexAt({ env: both }, 'gateway', 'master-key', 'rotate')
  assert.match(done.stdout, /under the current master key; 0 left\./u)
  assert.match(done.stderr, /^secrets of push endpoints: \d+ done, 0 left$/mu)
  assert.equal((await aexAt({ env: rotated }, 'gateway', 'push', 'list')).code, 0)
  const back = { ...env, AEX_GATEWAY_MASTER_KEY_PREVIOUS: rotated.AEX_GATEWAY_MASTER_KEY }
  assert.equal((await aexAt({ env: back }, 'gateway', 'master-key', 'rotate')).code, 0)
})

test('a migration is planned without change, and a second one finds nothing to do', async () => {
  assert.match((await gateway('migrate', '--plan')).stdout, /Nothing to apply\.$/mu)
  assert.match((await gateway('migrate')).stdout, /Nothing to apply: the schema is that of this release/u)
})

test('a misspelt variable of the gateway is named, with the likely one', () => {
  const known = ['AEX_GATEWAY_PORT', 'AEX_GATEWAY_HOST']
  assert.deepEqual(unknownGatewayVariables({ AEX_GATEWAY_PROT: '1', AEX_GATEWAY_HOST: 'x' }, known), [
    'AEX_GATEWAY_PROT is not a variable of aex and has no effect. Did you mean AEX_GATEWAY_PORT?',
  ])
})

test('a person is invited by a link, gets another one, and is removed', async () => {
  const added = await gateway('person', 'add', 'Ida Berg', '--role', 'planner,approver')
  assert.match(added.stdout, /^Ida Berg has the role planner, approver\.\n {2}person {2}person_/u)
  assert.match(added.stdout, / {2}link {4}http:\/\/127\.0\.0\.1:8090\/enter\?link=[\w-]{43} /u)
  const [{ person_id: personId, roles }] = await document('person', 'list')
  assert.deepEqual(roles, ['planner', 'approver'])
  assert.match((await document('person', 'link', personId)).link, /\/enter\?link=/u)
  assert.match((await gateway('person', 'add', 'X', '--role', 'owner')).stderr, /Use reader, planner/u)
  const changed = await document('person', 'role', personId, '--role', 'administrator')
  assert.deepEqual(changed, { person_id: personId, roles: ['administrator'] })
  for (const change of [['role', personId, '--role', 'reader'] as const, ['remove', personId] as const])
    assert.match((await gateway('person', ...change)).stderr, /last administrator/u)
  const { person_id: other } = await document('person', 'add', 'Ada', '--role', 'administrator')
  assert.equal((await gateway('person', 'role', personId, '--role', 'reader')).code, 0)
  assert.match((await gateway('person', 'role', 'person_none', '--role', 'reader')).stderr, /no person_none/u)
  assert.equal((await gateway('person', 'remove', personId)).code, 0)
  assert.match((await gateway('person', 'remove', personId)).stderr, /no person_.* List people: /u)
  const people: { person_id: string }[] = await document('person', 'list')
  assert.deepEqual(
    people.map(({ person_id }) => person_id),
    [other],
  )
})

test('every change by command is an entry of the administration record, with who made it', async () => {
  const by = ['--by', 'Liv Moe'] as const
  const file = join(folder, 'recorded.json')
  writeFileSync(file, (await aexHere('new', 'policy_envelope', ...POLICY_PARTIES)).stdout)
  await db`delete from agent_policy`
  const last = async () => {
    const rows = await db<{ action: string; target: string; actor_id: string }[]>`
      select action, target, actor_id from administration_record order by number desc limit 1`
    const [{ action, target, actor_id } = { action: '', target: '', actor_id: '' }] = rows
    return [action, target, actor_id]
  }
  const user = userInfo().username
  const { system_id: system } = await document('system', 'add', 'wms', '--agent', 'agent_a', '--may', 'read')
  assert.deepEqual(await last(), ['system.add', system, user])
  await document('system', 'revoke', system)
  assert.deepEqual(await last(), ['system.revoke', system, user])
  await gateway('system', 'revoke', 'system_none')
  assert.deepEqual(await last(), ['system.revoke', system, user], 'what changes nothing is no entry')
  const { policy_id: policy } = await document('policy', 'add', file, '--agent', 'agent_a')
  assert.deepEqual(await last(), ['policy.put', policy, user])
  await document('policy', 'remove', policy, '--agent', 'agent_a')
  assert.deepEqual(await last(), ['policy.remove', policy, user])
  const push = await document('push', 'set', 'https://10.0.0.5:8443/in', '--agent', 'agent_a')
  assert.deepEqual(await last(), ['push.add', push.endpoint_id, user])
  await document('push', 'remove', '--agent', 'agent_a')
  assert.deepEqual(await last(), ['push.remove', 'agent_a', user])
  await gateway('name', 'org_b', 'Bolts')
  assert.deepEqual(await last(), ['name.set', 'org_b', user])
  const hold = ['thread_9', '--agent', 'agent_a', ...by, '--reason', 'case 15'] as const
  await document('hold', 'place', ...hold)
  assert.deepEqual(await last(), ['hold.place', 'thread_9', 'Liv Moe'])
  await document('hold', 'release', ...hold)
  assert.deepEqual(await last(), ['hold.release', 'thread_9', 'Liv Moe'])
  const { rule_id: rule } = await document('rule', 'add', '--people', '2', ...by)
  assert.deepEqual(await last(), ['rule.add', rule, 'Liv Moe'])
  await document('rule', 'remove', rule, '--by', 'Ole Dahl')
  assert.deepEqual(await last(), ['rule.remove', rule, 'Ole Dahl'])
  const { person_id: from } = await document('person', 'add', 'Ole', '--role', 'approver')
  const { person_id: to } = await document('person', 'add', 'Liv', '--role', 'planner')
  const until = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)
  const terms = ['--from', from, '--to', to, '--until', until] as const
  const { delegation_id: delegation } = await document('delegation', 'add', ...terms, ...by)
  assert.deepEqual(await last(), ['delegation.add', delegation, 'Liv Moe'])
  await document('delegation', 'end', delegation, '--by', 'Ole Dahl')
  assert.deepEqual(await last(), ['delegation.end', delegation, 'Ole Dahl'])
  const [ended] = await db`select ended_by from approval_delegation where delegation_id = ${delegation}`
  assert.equal(ended?.['ended_by'], 'Ole Dahl')

  const [newest, second]: { number: number; action: string }[] = await document('record', 'list')
  assert.deepEqual([newest?.action, second?.action], ['delegation.end', 'delegation.add'])
  const older = await document('record', 'list', '--before', String(newest?.number))
  assert.deepEqual(older[0], second)
  assert.match((await gateway('record', 'list', '--before', 'x')).stderr, /Use the number of an entry/u)
})

test('the record and the people are listed to their ends', async () => {
  await db`
    insert into administration_record (at, actor_kind, actor_id, action, target, details)
    select now(), 'command', 'root', 'name.set', 'org_' || n, '{}' from generate_series(1, 520) as n`
  const first = await gateway('record', 'list')
  const [, last = ''] = /Older entries: .*--before (\d+)/u.exec(first.stdout) ?? []
  assert.match((await gateway('record', 'list', '--before', last)).stdout, / org_1 /u)
  await db`
    insert into person (person_id, name, roles, added_at)
    select 'person_many_' || n, 'Same Name', '{reader}', now() from generate_series(1, 1020) as n`
  const people: { person_id: string }[] = await document('person', 'list')
  const many = people.filter(({ person_id }) => person_id.startsWith('person_many_'))
  assert.equal(new Set(many.map(({ person_id }) => person_id)).size, 1020)
  assert.equal(many.length, 1020)
})

test('[EVT-14] events that were set aside are listed with their reason, and wait again: one of them, or all', async () => {
  const event = (number: number) => db`
    insert into agent_event (agent_id, event_id, sequence, notification_id, body, source, stored_at, state, attempts, reason)
    values ('agent_a', ${`evt_${number}`}, ${number}, ${`ntf_${number}`},
      ${JSON.stringify({ event_type: 'package.accepted', package_id: `pkg_${number}` })}, 'poll',
      '2026-03-01T00:00:00.000Z', 'set_aside', 8, 'key_unavailable: the module is away')`
  assert.equal((await gateway('event', 'list')).stdout, 'No event was set aside.\n')
  for (const number of [1, 2, 3]) await event(number)
  const listed = await gateway('event', 'list', '--agent', 'agent_a')
  assert.match(
    listed.stdout,
    /^agent_a {2}1 {2}package\.accepted pkg_1 .* 8 attempts {2}evt_1\n {2}key_unavailable: /u,
  )
  assert.deepEqual(await document('event', 'retry', 'evt_2'), { retried: 1 })
  const [waiting] = await document('event', 'list', '--state', 'waiting')
  assert.deepEqual([waiting.event_id, waiting.attempts, waiting.reason], ['evt_2', 0, undefined])
  for (const [args, sentence] of [
    [['evt_2'], /evt_2 was not set aside\. List such events: /u],
    [[], /Name one event, or give --all/u],
    [['evt_1', '--all'], /Name one event, or give --all/u],
    [['--all', '--agent', 'agent_b'], /no agent_b\. List its agents: /u],
  ] as const) {
    const { code, stderr } = await gateway('event', 'retry', ...args)
    assert.equal(code, 1)
    assert.match(stderr, sentence)
  }
  assert.match((await gateway('event', 'retry', '--all')).stdout, /^2 events wait again/u)
  assert.deepEqual(await document('event', 'list'), [])
})
