import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { organizations, sendPackage, sendReceipt, startWorld } from '@agent-exchange/testkit'
import { aexHere as aex, documentOf as json } from '../../aex-here.fixture.ts'
import { timelineReport } from './timeline-report.ts'

const world = await startWorld()
const folder = await mkdtemp(join(tmpdir(), 'aex-cli-'))
after(async () => {
  await rm(folder, { recursive: true })
  await world[Symbol.asyncDispose]()
})
const created = await world.operate('POST', '/operators', { name: 'nightshift', role: 'administrator' })
await writeFile(join(folder, 'operator-token'), `${String(created.body['token'])}\n`)
Object.assign(process.env, {
  AEX_OPERATOR_URL: world.operatorUrl,
  AEX_OPERATOR_TOKEN: '',
  AEX_DATA_DIR: folder,
})

const [sender, owner] = await organizations(world, 'sender', 'owner')

test('a package is found, listed and shown with its timeline; so is its thread', async () => {
  const { metadata } = await sendPackage(sender, owner)
  await sendReceipt(owner, metadata, 'received')
  const { package_id: id, thread_id: threadId } = metadata
  const found = await aex('search', id)
  assert.match(
    found.stdout,
    new RegExp(`^KIND .*\\npackage +${sender.organizationId} +${id} +${threadId}\\n$`),
  )
  const listed = await aex('package', 'list', '--agent', owner.agentId, '--since', '1h')
  assert.match(listed.stdout, new RegExp(`\\n${id} +received `))
  const shown = await aex('package', 'show', id)
  assert.equal(shown.code, 0, shown.stderr)
  assert.match(shown.stdout, new RegExp(`^package_id +${id}\\n`))
  assert.match(
    shown.stdout,
    /\n\d\d:\d\d:\d\d\.\d{3} {2}\+ Package accepted\n {16}org_sender\S+ → exchange\n/,
  )
  assert.match(shown.stdout, /\n {16}entries 1\n {18}[0-9a-f]{64}\n/)
  assert.match(shown.stdout, /\+ Receipt: received\n/)
  const thread = await aex('thread', 'show', threadId)
  assert.match(thread.stdout, /\n\nPackages\nPACKAGE_ID /)
  assert.ok(thread.stdout.includes('Receipt: received'))
  const document = await json('package', 'show', id)
  assert.deepEqual([document['state'], Array.isArray(document['steps'])], ['received', true])
})

test('what does not exist says so', async () => {
  assert.match((await aex('search', 'pkg_none')).stdout, /Nothing has this id/)
  const missing = await aex('thread', 'show', 'thread_none')
  assert.equal(missing.code, 1)
  assert.match(missing.stderr, /resource_not_found/)
})

test('lines have at most 80 columns where ids permit, and a terminal obeys nothing of them', () => {
  const step = {
    at: '2026-11-16T03:00:00.000Z',
    what: 'Webhook attempt 7 of a replay: status 503 \u001b[2J',
    outcome: 'bad',
    from: 'exchange',
    to: `org_${'a'.repeat(40)}`,
    facts: {
      deliveries: [{ delivery_id: `dlv_${'0'.repeat(32)}`, state: 'dead' }],
      reason: 'one two three four five six seven eight nine ten eleven twelve thirteen fourteen',
    },
  }
  const text = timelineReport({ thread_id: 'thread_x', steps: [step, step], is_complete: false })
  for (const line of text.split('\n')) assert.ok(line.length <= 80, line)
  assert.ok(!text.includes('\u001b'))
  assert.match(text, /^thread_id {2}thread_x\n\n2026-11-16 \(UTC\)\n03:00:00\.000 {2}! Webhook/)
  assert.match(text, /There is more than one timeline shows/)
})
