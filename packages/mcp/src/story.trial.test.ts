import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectClient, ERAS, serveAndConnect } from './clients.fixture.ts'
import { companies, WITH_LOG } from './companies.fixture.ts'
import { tellStory } from './story.fixture.ts'

const both = companies(WITH_LOG)

for (const era of ERAS) {
  test(`two models tell the whole story over HTTP (${era})`, async () => {
    const { acme, bolt } = both
    await using one = await serveAndConnect(acme.session, era)
    await using other = await serveAndConnect(bolt.session, era)
    await tellStory({ ...acme, mcp: one }, { ...bolt, mcp: other })
  })
}

test('two clients use one server at the same time, and each gets its own answers', async () => {
  await using first = await serveAndConnect(both.acme.session, 'legacy')
  await using second = await connectClient(first.url, 'auto')
  const wanted = Array.from({ length: 8 }, (_, index) => (index % 2 === 0 ? 'audit_event' : 'network_story'))
  const titles = await Promise.all(
    wanted.map(async (name, index) => {
      const { client } = index % 2 === 0 ? first : second
      const [content] = (await client.readResource({ uri: `aex://schemas/${name}` })).contents
      return content && 'text' in content ? (JSON.parse(content.text) as { title: string }).title : undefined
    }),
  )
  assert.deepEqual(titles, wanted)
})
