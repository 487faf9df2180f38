import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startWorld, type World } from '@agent-exchange/testkit'
import { newObject } from '@agent-exchange/sdk'
import { SKILL, startFolderAgent, type TestAgent } from './agents.fixture.ts'
import { ERAS, serveAndConnect } from './clients.fixture.ts'

let world: World
let acme: TestAgent
let bolt: TestAgent
before(async () => {
  world = await startWorld()
  acme = await startFolderAgent(world, 'acme', 'bolt')
  bolt = await startFolderAgent(world, 'bolt', 'acme')
})
after(async () => {
  await acme[Symbol.asyncDispose]()
  await bolt[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

async function sendToBolt(summary: string) {
  const terms = { by: acme.agent.identity, to: 'org_bolt', now: new Date() }
  const policy = newObject('policy_envelope', terms)
  const drawn = newObject('reasoning_package', { ...terms, policyId: policy.policy_id })
  const object = { ...drawn, reasoning: { ...drawn.reasoning, summary } }
  return acme.agent.send({ object, policy, to: bolt.agent.identity, skill: SKILL })
}

for (const era of ERAS) {
  test(`a client (${era}) lists the inbox, reads a package and marks its event as handled`, async () => {
    const sent = await sendToBolt('Rails are short in week 12.')
    await using mcp = await serveAndConnect(bolt.session, era)
    const { tools } = await mcp.client.listTools()
    assert.ok(tools.every(({ outputSchema, annotations }) => outputSchema && annotations))
    const { events } = await mcp.result<{ events: { package_id: string; event_id: string }[] }>('list_inbox')
    const event = events.find(({ package_id }) => package_id === sent.packageId)
    assert.ok(event)
    const { threads } = await mcp.result<{ threads: { thread_id: string }[] }>('list_threads')
    assert.ok(threads.some(({ thread_id }) => thread_id === sent.threadId))

    const read = await mcp.call('read_package', { package_id: sent.packageId })
    console.log(JSON.stringify(read, undefined, 1))
    assert.deepEqual(await mcp.result('finish_event', { event_id: event.event_id }), { finished: true })
    assert.deepEqual(await mcp.result('finish_event', { event_id: event.event_id }), { finished: false })
    console.log(await mcp.result('follow_thread', { thread_id: sent.threadId }))
    console.log(await mcp.result('verify_capsule', { thread_id: sent.threadId }))
    console.log(await mcp.result('describe_agent'))
    console.log(await mcp.failure('read_package', { package_id: 'nonsense' }))
    console.log(await mcp.failure('read_package', { package_id: 'pkg_unknown' }))
    console.log(JSON.stringify(await mcp.client.listResources()), JSON.stringify(await mcp.client.listResourceTemplates()))
    console.log(JSON.stringify(await mcp.client.readResource({ uri: `aex://packages/${sent.packageId}` })))
    console.log(JSON.stringify(await mcp.client.readResource({ uri: `aex://threads/${sent.threadId}` })))
    console.log(JSON.stringify(await mcp.client.listPrompts()))
    console.log(JSON.stringify(await mcp.client.getPrompt({ name: 'answer_package', arguments: { package_id: 'pkg_1' } })))
    console.log(JSON.stringify(tools).length)
  })
}
