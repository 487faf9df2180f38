import { exampleObjects } from '@agent-exchange/protocol'
import { openContentStore } from '../content/open-content-store.ts'
import { addItem } from '../inbox/inbox.fixture.ts'
import { testBox, type GatewayDatabase } from '../stores/gateway-database.fixture.ts'
import { noteDeadline } from './response-deadlines.ts'

export const CANARY = 'canary-amber-windmill'
/** Everything in the database happened before. The deadline of the example passed two days before. */
export const NOW = '2026-03-06T17:00:00.000Z'

/** An agent of whom everything needs a person: an old package, a passed deadline, a stuck package, an event set aside, a forked log. */
export async function agentInTrouble(database: GatewayDatabase): Promise<string> {
  const { db } = database
  const agentId = await database.newAgent()
  const receivedAt = '2026-03-02T00:00:00.000Z'
  const contents = openContentStore({ db, box: testBox(), clock: { now: () => receivedAt } })
  const example = exampleObjects.reasoning_package
  const object = { ...example, reasoning: { ...example.reasoning, summary: CANARY } }
  const received = { agentId, packageId: 'pkg_old', threadId: 'thread_old' }
  await db.begin(async (tx) => {
    await contents.put(tx, { ...received, direction: 'received', object, provenance: { note: CANARY } })
    await noteDeadline(tx, { ...received, object, receivedAt })
  })
  await addItem(db, { ...received, receivedAt })
  await db`
    insert into agent_outbox (agent_id, package_id, state, revision, created_at, updated_at, entry)
    values (${agentId}, 'pkg_stuck', 'sealed', 1, ${receivedAt}, ${receivedAt}, ${JSON.stringify({ note: CANARY })})`
  await db`
    insert into agent_event (agent_id, event_id, sequence, notification_id, body, source, stored_at, state, attempts,
      reason, finished_at)
    values (${agentId}, 'evt_aside', 1, 'ntf_aside', ${JSON.stringify({ note: CANARY })}, 'poll', ${receivedAt},
      'set_aside', 8, ${CANARY}, ${receivedAt})`
  await db`insert into agent_split_view (agent_id, view) values (${agentId}, ${JSON.stringify({ note: CANARY })})`
  return agentId
}

/** The company answers in the thread of the old package. */
export async function answerOld({ db }: GatewayDatabase, agentId: string): Promise<void> {
  const contents = openContentStore({ db, box: testBox(), clock: { now: () => NOW } })
  await db.begin((tx) =>
    contents.put(tx, {
      agentId,
      packageId: 'pkg_answer',
      threadId: 'thread_old',
      direction: 'sent',
      object: exampleObjects.response_object,
      provenance: {},
    }),
  )
}
