import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startWorld } from '@agent-exchange/testkit'
import type { EvidenceBundle } from '@agent-exchange/log'
import { verifyEvidence } from '@agent-exchange/log'
import type { AgentContext } from '../context.ts'
import { failing, relinked, wholeThread } from './evidence.fixture.ts'
import { readEvidence } from './read-evidence.ts'

const world = await startWorld({ evidenceVersion: 1 })
after(() => world[Symbol.asyncDispose]())
const thread = await wholeThread(world)
const { bolt, threadId } = thread
const evidence = await readEvidence(bolt, { threadId })

type Answer = Readonly<Record<string, unknown>>

type Options = { readonly query?: object }

/** The same agent, whose questions and answers somebody changes. */
function altered(
  agent: AgentContext,
  ask: (operation: string, options: Options) => Options,
  answer: (operation: string, given: Answer) => Answer,
): AgentContext {
  const call = async (operation: string, options: Options) => {
    const given: unknown = await agent.connection.call(
      operation as 'getThread',
      ask(operation, options) as never,
    )
    return answer(operation, given as Answer)
  }
  return { ...agent, connection: { ...agent.connection, call: call as AgentContext['connection']['call'] } }
}

/** The real exchange in small pages, with lists that go on from page to page. */
function inSmallPages(agent: AgentContext): AgentContext {
  let page = 0
  return altered(
    agent,
    (operation, options) =>
      operation.endsWith('AuditEvidence') ? { ...options, query: { ...options.query, limit: 2 } } : options,
    (operation, given) => {
      page++
      const attempt = {
        delivery_id: `delivery_${page}`,
        attempt: 1,
        attempted_at: world.clock.now(),
        outcome: 'ok',
      }
      const unlinked = { proof: { kind: 'policy_receipt_accepted', recorded_at: `page ${page}` } }
      if (operation === 'getPackageAuditEvidence') return { ...given, delivery_attempts: [attempt, attempt] }
      return operation === 'getThreadAuditEvidence' ? { ...given, unlinked_entries: [unlinked] } : given
    },
  )
}

test('[AUD-01] evidence on many pages is collected whole, each item of its lists once', async () => {
  const bundle = await readEvidence(inSmallPages(bolt), { threadId })
  assert.deepEqual(bundle.entries, evidence.entries)
  assert.deepEqual(bundle.keys, evidence.keys)
  assert.deepEqual(
    bundle.packages.map(({ metadata, positions }) => [metadata, positions]),
    evidence.packages.map(({ metadata, positions }) => [metadata, positions]),
  )
  const [first] = bundle.packages
  assert.ok(first)
  assert.equal(first.delivery_attempts?.length, Math.ceil(first.positions.length / 2))
  assert.equal(bundle.unlinked_entries?.length, Math.ceil(evidence.entries.length / 2))
  const report = await verifyEvidence(bundle)
  assert.deepEqual(failing(report), [])
  const words = Map.groupBy(report.exchangeClaims, ({ code }) => code)
  assert.ok(words.get('delivery_attempt'))
  assert.equal(words.get('unlinked_entry')?.length, bundle.unlinked_entries?.length)
})

test('[AUD-01] an exchange that shows a thread and its packages differently is found', async () => {
  const lying = altered(
    bolt,
    (_, options) => options,
    (operation, given) => {
      if (operation !== 'getPackageAuditEvidence') return given
      const [first, ...rest] = given['entries'] as EvidenceBundle['entries']
      return { ...given, entries: [{ ...first, proof: { ...first?.proof, note: 'another' } }, ...rest] }
    },
  )
  const bundle = await readEvidence(lying, { threadId })
  assert.equal((await verifyEvidence(bundle)).verdict, 'broken')
})

test('[AUD-01] entries may carry the time of acceptance and the acceptance of a response beside the order of recording', async () => {
  const later = new Date(Date.parse(world.clock.now()) + 60_000).toISOString()
  const acceptanceOf = (id: unknown) =>
    evidence.entries
      .map(({ proof }) => Reflect.get(proof, 'acceptance') as { package_id: string } | undefined)
      .find((acceptance) => acceptance?.package_id === id)
  const entries = evidence.entries.map(({ proof, ...entry }) => {
    const { kind, recorded_at: accepted_at } = proof
    const response = kind === 'response_accepted' && {
      acceptance: acceptanceOf(Reflect.get(proof, 'response_package_id')),
    }
    const isDated = !['package_accepted', 'response_accepted', 'content_fetched'].includes(kind)
    return { ...entry, proof: { ...proof, ...response, ...(isDated && { accepted_at }), recorded_at: later } }
  })
  const report = await verifyEvidence(await relinked({ ...evidence, entries }))
  // The old key counted when it signed, which is long before the entries were recorded.
  assert.deepEqual(failing(report), [])
  assert.equal(report.verdict, 'holds')
  assert.match(JSON.stringify(report.exchangeClaims), /"accepted_at"/)
  const forged = entries.map((entry) =>
    entry.proof.kind === 'response_accepted'
      ? { ...entry, proof: { ...entry.proof, acceptance: acceptanceOf(thread.first) } }
      : entry,
  )
  assert.match(
    failing(await verifyEvidence(await relinked({ ...evidence, entries: forged }))).join('\n'),
    /entry_repeats_signed.*"position":\d+.*proof\/acceptance/,
  )
})
