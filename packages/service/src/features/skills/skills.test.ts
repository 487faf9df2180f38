import assert from 'node:assert/strict'
import { buffer } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { generateKeyPair, sha256Digest, signDetached, verifySkillRelease } from '@agent-exchange/crypto'
import {
  createProfile,
  skillRelease,
  validatorOf,
  type Failure,
  type SkillManifest,
} from '@agent-exchange/protocol'
import { draftSkillManifest, openTestDatabase, untilBlocked } from '@agent-exchange/testkit'
import { inTransaction } from '@agent-exchange/database'
import type { QueryOf } from '../../kernel/call.ts'
import { handMadeCall, handMadeContext } from '../../kernel/hand-made-call.fixture.ts'
import { Problem } from '../../kernel/problem.ts'
import { getSkillRelease } from './get-release.ts'
import { listSkillReleases } from './list-releases.ts'
import { MAXIMUM_ARTIFACT_BYTES, publishRelease, signRelease } from './publish-release.ts'
import { createArtifactReader } from './artifact-reader.ts'

const database = await openTestDatabase()
const { db } = database
after(() => database[Symbol.asyncDispose]())

const { publicKey, privateKey } = await generateKeyPair('signing')
const context = handMadeContext({
  platform: {
    sign: (statement, member) => signDetached(statement, { keyId: 'statement-1', key: privateKey, member }),
  },
})
const now = '2026-03-02T08:00:00.000Z'
const artifacts = createArtifactReader(db, 1_048_576)

/** Inserts a release without validation, like those of earlier versions. */
async function publishUnchecked(changes: Partial<SkillManifest>) {
  const release = await signRelease(
    draftSkillManifest({ ...changes, protocol_range: 'svc/1.0' }),
    Buffer.from('a'),
    {
      context,
      now,
    },
  )
  await inTransaction(db, (tx) => publishRelease(tx, { ...release, ...changes }, Buffer.from('a')))
}

async function publish(changes: Partial<SkillManifest> = {}, artifact: Uint8Array = Buffer.from('artifact')) {
  const release = await signRelease(draftSkillManifest(changes), artifact, { context, now })
  await inTransaction(db, (tx) => publishRelease(tx, release, artifact))
  return release
}

const get = (skill_id: string, version: string) =>
  getSkillRelease(
    handMadeCall('getSkillRelease', { params: { skill_id, version }, query: {}, body: undefined }),
    db,
  )
const list = (query: QueryOf<'listSkillReleases'>, profile = context.profile) =>
  listSkillReleases(
    handMadeCall('listSkillReleases', {
      params: {},
      query,
      body: undefined,
      context: { ...context, profile },
    }),
    db,
  )
const problem = (code: string) => (error: unknown) => error instanceof Problem && error.code === code

test('[ID-10] a published release verifies: signature over the release, digest over the artifact bytes', async () => {
  const artifact = Buffer.from([0, 255, 1, 254, 13, 10])
  const release = await publish({ skill_id: 'skill_signed' }, artifact)
  const read = await get('skill_signed', '1.0.0')
  assert.deepEqual(read, release)
  assert.deepEqual(validatorOf(skillRelease)(read), [])
  await verifySkillRelease(read, publicKey)
  await assert.rejects(verifySkillRelease({ ...read, version: '1.0.1' }, publicKey))
  const name = read.artifact_url.replace('https://exchange.example/skills/artifacts/', '')
  const content = await buffer(artifacts.parts(name, await artifacts.length(name)))
  assert.deepEqual(content, artifact)
  assert.equal(await sha256Digest(content), read.artifact_digest)
})

test('[ID-10] a published version is never replaced, even by concurrent publications', async () => {
  const results = await Promise.allSettled(
    Array.from({ length: 6 }, (_, index) =>
      publish({ skill_id: 'skill_once' }, Buffer.from(`artifact ${index}`)),
    ),
  )
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
  const before = await get('skill_once', '1.0.0')
  await assert.rejects(
    publish({ skill_id: 'skill_once', release_channel: 'stable' }),
    problem('identifier_conflict'),
  )
  assert.deepEqual(await get('skill_once', '1.0.0'), before)
  assert.notDeepEqual(await publish({ skill_id: 'skill_once', version: '1.0.1' }), before)
})

test('[ID-10] an oversized artifact and oversized names are refused', async () => {
  await assert.rejects(publish({}, new Uint8Array(MAXIMUM_ARTIFACT_BYTES + 1)), problem('payload_too_large'))
  await assert.rejects(publish({ skill_id: 's'.repeat(257) }), problem('validation_failed'))
  await assert.rejects(publish({ version: '1\0' }), problem('validation_failed'))
})

test('[ID-09][ID-10][O-06] an invalid range is refused at publication, with a valid example', async () => {
  for (const protocol_range of ['one point oh', '^1.0', '>= svc/1.0', 'svc/1.0 ||']) {
    await assert.rejects(publish({ skill_id: 'skill_unreadable', protocol_range }), (error) => {
      assert.ok(problem('validation_failed')(error))
      const [failure] = (error as Problem).details['failures'] as Failure[]
      assert.deepEqual([failure?.pointer, failure?.rule], ['/manifest/protocol_range', 'O-06'])
      assert.match(failure?.message ?? '', />=svc\/1\.0 <svc\/2\.0/)
      return true
    })
  }
  await assert.rejects(get('skill_unreadable', '1.0.0'), problem('resource_not_found'))
})

test('[ID-09] an unknown release is not found, whatever its id', async () => {
  for (const id of ['none', "x' or '1'='1", 'x\0', 's'.repeat(3_000)]) {
    await assert.rejects(get(id, '1.0.0'), problem('resource_not_found'))
    await assert.rejects(get('skill_once', id), problem('resource_not_found'))
    await assert.rejects(artifacts.length(id), problem('resource_not_found'))
  }
  await assert.rejects(artifacts.length('0'.repeat(64)), problem('resource_not_found'))
})

test('[ID-09][API-06] pages contain only compatible releases, in order, each once', async () => {
  await db`truncate skill_release`
  const ranges = ['svc/1.0', '>=svc/2.0', '>=svc/1.0 <svc/2.0', 'one point oh', 'svc/1.0 || svc/3.0']
  for (let index = 0; index < 25; index++) {
    const release = { skill_id: `skill_${index}`, protocol_range: ranges[index % ranges.length] ?? '' }
    await (release.protocol_range === 'one point oh' ? publishUnchecked(release) : publish(release))
  }
  const collect = async (query: QueryOf<'listSkillReleases'>) => {
    const seen: string[] = []
    for (let cursor: string | undefined, pages = 0; pages < 30; pages++) {
      const page = await list({ ...query, ...(cursor !== undefined && { after: cursor }) })
      assert.ok(page.items.length <= (query.limit ?? 100))
      assert.equal(page.has_more, page.next_cursor !== null)
      seen.push(...page.items.map(({ skill_id }) => skill_id))
      if (page.next_cursor === null) return seen
      cursor = page.next_cursor
    }
    throw new Error('the pages do not end')
  }
  const numbers = [...Array(25).keys()]
  const names = (remainders: number[]) =>
    numbers.filter((n) => remainders.includes(n % 5)).map((n) => `skill_${n}`)
  assert.deepEqual(await collect({}), names([0, 1, 2, 3, 4]))
  assert.deepEqual(await collect({ limit: 5 }), names([0, 1, 2, 3, 4]))
  assert.deepEqual(await collect({ limit: 4, protocol_version: 'svc/1.0' }), names([0, 2, 4]))
  assert.deepEqual(await collect({ limit: 1, protocol_version: 'svc/2.5' }), names([1]))
  assert.deepEqual(await collect({ protocol_version: 'nonsense' }), [])

  const result = createProfile({ 'O-06': { unreadable_range: 'compatible' } })
  assert.ok(result.ok)
  const lenient = await list({ protocol_version: 'svc/2.0' }, result.profile)
  assert.deepEqual(
    lenient.items.map(({ skill_id }) => skill_id),
    names([1, 3]),
  )
  assert.deepEqual((await list({ protocol_version: 'nonsense' }, result.profile)).items, [])
})

test('[API-06] an altered cursor, one of another filter and a limit above the maximum are refused', async () => {
  const { next_cursor } = await list({ limit: 1 })
  assert.ok(next_cursor)
  await assert.rejects(list({ after: `${next_cursor}A` }), problem('cursor_invalid'))
  await assert.rejects(list({ after: next_cursor, protocol_version: 'svc/1.0' }), problem('cursor_invalid'))
  await assert.rejects(list({ limit: 1_001 }), problem('validation_failed'))
})

test('[API-06] releases become visible in order of position, so that a cursor misses none', async () => {
  await db`truncate skill_release`
  const slow = await signRelease(draftSkillManifest({ skill_id: 'skill_slow' }), Buffer.from('a'), {
    context,
    now,
  })
  let quick: Promise<unknown> = Promise.resolve()
  await inTransaction(db, async (tx) => {
    await publishRelease(tx, slow, Buffer.from('a'))
    quick = publish({ skill_id: 'skill_quick' })
    await untilBlocked({ sql: tx }, 1)
    assert.deepEqual((await list({})).items, [])
  })
  await quick
  const { items } = await list({})
  assert.deepEqual(
    items.map(({ skill_id }) => skill_id),
    ['skill_slow', 'skill_quick'],
  )
})
