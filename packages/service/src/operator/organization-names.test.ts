import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startWorld } from '@agent-exchange/testkit'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())

test('names of organizations are read by their ids, a page of a list at once', async () => {
  for (const [organization_id, name] of [
    ['org_a', 'Länge'],
    ['org_b', 'B'],
  ])
    await world.operate('POST', '/organizations', { organization_id, name })
  const read = (query: string) => world.operate('GET', `/organization-names?${query}`)
  const two = await read('organization_id=org_a&organization_id=org_nobody&organization_id=org_b')
  assert.deepEqual(two.body['items'], [
    { organization_id: 'org_a', name: 'Länge' },
    { organization_id: 'org_b', name: 'B' },
  ])
  assert.deepEqual((await read('organization_id=org_b')).body['items'], [
    { organization_id: 'org_b', name: 'B' },
  ])
  const many = Array.from({ length: 201 }, (_, index) => `organization_id=org_${index}`).join('&')
  assert.equal((await read(many)).status, 422)
})

test('the organization of the exchange itself is marked in the list', async () => {
  const { body } = await world.operate('GET', '/organizations')
  const items = body['items'] as { organization_id: string; is_platform: boolean }[]
  assert.deepEqual(
    items.filter(({ is_platform }) => is_platform).map(({ organization_id }) => organization_id),
    ['org_platform'],
  )
})
