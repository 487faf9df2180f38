import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ERAS } from '../src/clients.fixture.ts'
import { companies } from '../src/companies.fixture.ts'
import { tellStory } from '../src/story.fixture.ts'
import { connectByHttp, connectByStdio, startHttpProcess } from './aex-mcp.ts'

const both = companies()

for (const era of ERAS) {
  test(`two models tell the whole story through aex agent mcp on standard streams (${era})`, async () => {
    const { acme, bolt } = both
    await using one = await connectByStdio(acme.dir, era)
    await using other = await connectByStdio(bolt.dir, era)
    await tellStory({ ...acme, mcp: one }, { ...bolt, mcp: other })
    assert.match(one.errors(), /send_draft: done, \d+ ms/u)
    assert.doesNotMatch(one.errors() + other.errors(), /Rails|Week 13|eyJ/u)
  })

  test(`two models tell the whole story through aex agent mcp --http (${era})`, async () => {
    const { acme, bolt } = both
    await using first = await startHttpProcess(acme.dir)
    await using second = await startHttpProcess(bolt.dir)
    await using one = await connectByHttp(first, era)
    await using other = await connectByHttp(second, era)
    await tellStory({ ...acme, mcp: one }, { ...bolt, mcp: other })
  })
}

test('a client on standard streams and one over HTTP use the same agent at the same time', async () => {
  const { acme } = both
  await using http = await startHttpProcess(acme.dir)
  await using one = await connectByStdio(acme.dir, 'auto')
  await using other = await connectByHttp(http, 'auto')
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? one : other).result('list_drafts')),
  )
  assert.ok(answers.every((answer) => JSON.stringify(answer) === JSON.stringify(answers[0])))
})
