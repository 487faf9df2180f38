import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { QUICK_LOG, until } from '@agent-exchange/testkit'
import { startApprovingCompany } from '../src/desk/approving-company.fixture.ts'
import { deskVisitor } from '../src/desk/desk-visitor.fixture.ts'
import { SKILL } from '../src/startup/two-instances.fixture.ts'

const PACKAGES = 1_000
/** Those whose content a story reads. */
const READ = 200
const SENT_AT_ONCE = 8
const MAXIMUM_BYTES = 100_000
/** The first page opens every package that the story reads. */
const COLD_MS = 30_000
/** Later pages take what is in memory: this catches work that grows with the thread. */
const WARM_MS = 5_000

const company = await startApprovingCompany({ world: { profile: QUICK_LOG, config: { role: 'all' } } })
after(() => company[Symbol.asyncDispose]())

/** Distinct packages of one thread: each says something else, and the gateway has a copy of each. */
async function fillThread(): Promise<string> {
  const { hosted, gateway } = company
  const { agent, agentId } = hosted
  const to = { organizationId: 'org_partner', agentId: 'agent_partner' }
  const policy = agent.make.policyEnvelope({ to: to.organizationId, purpose: 'supply planning' })
  const send = async (number: number, thread?: string): Promise<string> => {
    const object = agent.make.reasoningPackage({
      to: to.organizationId,
      policy,
      summary: `Statement ${number} about the rails of week ${number % 52}.`,
      facts: [`Coil ${number} moved by ${number % 7} days.`, `Press ${number} is down.`],
      ask: `Confirm lot ${number}.`,
      ...(thread !== undefined && { thread }),
    })
    const { packageId, threadId } = await agent.send({ object, policy, to, skill: SKILL })
    await gateway.db.begin((tx) =>
      gateway.contents.put(tx, { agentId, packageId, threadId, direction: 'sent', object, provenance: {} }),
    )
    return threadId
  }
  const threadId = await send(0)
  const numbers = Array.from({ length: PACKAGES - 1 }, (_, index) => index + 1)
  while (numbers.length > 0)
    await Promise.all(numbers.splice(0, SENT_AT_ONCE).map((number) => send(number, threadId)))
  return threadId
}

test('a thread of 1,000 packages has pages of bounded size that answer in time', async (t) => {
  const started = performance.now()
  const threadId = await fillThread()
  t.diagnostic(`${PACKAGES} packages in ${Math.round(performance.now() - started)} ms`)
  const ida = deskVisitor(company.origin)
  await ida.enter((await company.invite('Ida Berg', 'planner', 'auditor')).link)

  async function page(path: string): Promise<string> {
    const [cold, warm] = [await timed(path), await timed(path)]
    t.diagnostic(
      `${path.replace(threadId, 'THREAD')}: ${cold.bytes} bytes, ${cold.ms} ms, then ${warm.ms} ms`,
    )
    for (const [{ status, bytes, ms }, limit] of [
      [cold, COLD_MS],
      [warm, WARM_MS],
    ] as const) {
      assert.equal(status, 200, path)
      assert.ok(bytes < MAXIMUM_BYTES, `${path}: ${bytes} bytes`)
      assert.ok(ms < limit, `${path}: ${ms} ms`)
    }
    return warm.text
  }
  async function timed(path: string) {
    const from = performance.now()
    const { status, text } = await ida.get(path)
    return { status, text, bytes: Buffer.byteLength(text), ms: Math.round(performance.now() - from) }
  }

  const story = await page(`/threads/${threadId}`)
  assert.ok(story.includes(`Statement ${PACKAGES - 1} about`))
  assert.ok(story.includes(`Conversation, newest first (${PACKAGES})`))
  assert.ok(story.includes(`${PACKAGES - READ} older packages are not in this story`))
  await page(`/threads/${threadId}?conversation=7`)
  await until('the overview has the thread', async () =>
    (await ida.get('/')).text.includes(`/threads/${threadId}`),
  )
  await page('/')
  await page('/search?text=rails')
  // One file of evidence holds fewer packages; the pages say what to do.
  assert.match(story, /could not be collected[^<]*collect the evidence of single ones/u)
  assert.doesNotMatch(story, /still being verified/u)
  const evidence = await ida.get(`/evidence/${threadId}`)
  assert.equal(evidence.status, 409)
  assert.match(evidence.text, /collect the evidence of single ones/u)
})
