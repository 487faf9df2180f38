import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { OPERATION_IDS, operations, type Operation, type OperationId } from '@agent-exchange/protocol'
import {
  assertProblem,
  draftPackage,
  draftSkillManifest,
  setScene,
  startWorld,
  submit,
} from '@agent-exchange/testkit'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const scene = await setScene(world)
const LISTINGS = OPERATION_IDS.filter((id) => (operations[id] as Operation).query !== undefined)
const { sender, recipient, standing } = scene
for (let index = 0; index < 3; index++) {
  await submit(sender, await draftPackage(sender, recipient, { threadId: standing.metadata.thread_id }))
}
for (const version of ['1.1.0', '1.2.0']) await publish(version)

test('[API-06] the five listings page', () => {
  assert.deepEqual(LISTINGS.toSorted(), [
    'getPackageAuditEvidence',
    'getThread',
    'getThreadAuditEvidence',
    'listNotifications',
    'listSkillReleases',
  ])
})

const BAD_QUERIES = [
  'limit=0',
  'limit=-1',
  'limit=1.5',
  'limit=1e2',
  'limit=',
  'limit=abc',
  'limit=99999999',
  'limit=1&limit=2',
  'limit=0x10',
  'limit=%00',
  'limit=+5',
  'limit=9007199254740993',
  'after=',
  'limit[]=1',
]

test('[API-06][O-15] an invalid limit is refused and not echoed', async (t) => {
  for (const id of LISTINGS) {
    await t.test(id, async () => {
      const { path, by } = await scene.make(id)
      for (const query of BAD_QUERIES) {
        const answer = await by.get(`${path}?${query}`)
        if (query === 'limit[]=1') assert.equal(answer.status, 200)
        else assertProblem(answer, 'validation_failed', undefined, `${id} ${query}`)
      }
      const ignored = await by.get(`${path}?unknown=canary77&limit=1`)
      assert.equal(ignored.status, 200, ignored.text)
      assert.equal(ignored.text.includes('canary77'), false)
    })
  }
})

test('[API-06] following the cursor with one item per page gives every item once, in the order of one large page', async (t) => {
  for (const id of LISTINGS) {
    await t.test(id, async () => {
      const { path, by } = await scene.make(id)
      const whole = itemsOf((await by.get(`${path}?limit=100`)).body)
      assert.ok(whole.length > 2, String(whole.length))
      const walked: unknown[] = []
      let query = 'limit=1'
      for (let steps = 0; steps <= whole.length; steps++) {
        const { body, text, status } = await by.get(`${path}?${query}`)
        assert.equal(status, 200, text)
        walked.push(...itemsOf(body))
        if (!body['has_more']) break
        query = `limit=1&after=${String(body['next_cursor'])}`
      }
      assert.deepEqual(walked, whole)
    })
  }
})

test('[API-06] an altered cursor and one of another organization or listing are refused', async () => {
  const cursors = new Map<OperationId, string>()
  for (const id of LISTINGS) cursors.set(id, await cursorOf(id))
  for (const id of LISTINGS) {
    const { path, by } = await scene.make(id)
    const own = cursors.get(id) ?? ''
    assert.equal((await by.get(`${path}?after=${own}`)).status, 200)
    const altered = own
      .split('')
      .map((letter, index) => `${own.slice(0, index)}${letter === 'A' ? 'B' : 'A'}${own.slice(index + 1)}`)
    const others = [...cursors].filter(([other]) => other !== id).map(([, cursor]) => cursor)
    const made = [
      '0',
      '1',
      'AAAA',
      Buffer.from('{"sequence":1}').toString('base64url'),
      `${own}=`,
      `${own}AAAA`,
      own.slice(0, -1),
      'x'.repeat(5_000),
      '%00',
      '%F0%9F%92%A9',
      `${own}%20`,
    ]
    for (const cursor of [...altered.filter((text) => text !== own), ...others, ...made]) {
      const answer = await by.get(`${path}?after=${cursor}`)
      assertProblem(answer, 'cursor_invalid', undefined, `${id} ${cursor}`)
    }
  }
})

test('[API-06][EVT-10] a cursor is valid only for its organization, thread and filter', async () => {
  const { path } = await scene.make('listNotifications')
  const mine = await cursorOf('listNotifications')
  assertProblem(await sender.get(`${path}?after=${mine}`), 'cursor_invalid')
  const skills = await cursorOf('listSkillReleases')
  assertProblem(await sender.get(`/v1/skills?protocol_version=svc/1.0&after=${skills}`), 'cursor_invalid')
  const other = await draftPackage(sender, recipient)
  await submit(sender, other)
  const thread = await cursorOf('getThread')
  assertProblem(
    await recipient.get(`/v1/threads/${other.metadata.thread_id}?after=${thread}`),
    'cursor_invalid',
  )
  // Both are parties of the thread, but each has its own view of it.
  assertProblem(
    await sender.get(`/v1/threads/${standing.metadata.thread_id}?after=${thread}`),
    'cursor_invalid',
  )
})

async function cursorOf(id: OperationId): Promise<string> {
  const { path, by } = await scene.make(id)
  const { body } = await by.get(`${path}?limit=1`)
  assert.equal(typeof body['next_cursor'], 'string', id)
  return String(body['next_cursor'])
}

function itemsOf(body: Record<string, unknown>): unknown[] {
  return (body['items'] ?? body['packages'] ?? body['entries']) as unknown[]
}

async function publish(version: string): Promise<void> {
  const manifest = draftSkillManifest({ skill_id: 'skill_alignment', version })
  const answer = await world.operate('POST', '/skills', { manifest, artifact: 'YQ==' })
  assert.equal(answer.status, 201)
}
