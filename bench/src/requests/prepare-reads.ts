import { draftPackage, submit, type Organization } from '@agent-exchange/testkit'
import type { Market } from '../exchange/market.ts'
import { open } from '../exchange/postgres-server.ts'
import { eventMaker, insertEvents, readTemplates, together } from '../rows/event-rows.ts'
import { freshId } from '../samples/package-parts.ts'

const READERS = 8

export interface ReadableThread {
  readonly threadId: string
  readonly packageId: string
}

/** Creates threads through the API, and copies of notifications for a full page. */
export async function prepareReads(
  { senders, receivers, exchange }: Market,
  { packages, notifications }: { readonly packages: number; readonly notifications: number },
): Promise<ReadableThread[]> {
  const readers = senders.slice(0, READERS)
  const threads = await Promise.all(
    readers.map((reader, i) => makeThread(reader, receivers[i] as Organization, packages)),
  )
  await using db = open(exchange.database)
  const templates = await readTemplates(
    db,
    readers.map(({ organizationId }) => organizationId),
  )
  const nextEvent = eventMaker(templates)
  const events = templates.flatMap((template) =>
    Array.from({ length: notifications }, () => nextEvent(template, new Date())),
  )
  await insertEvents(db, together(events))
  return threads
}

async function makeThread(from: Organization, to: Organization, packages: number): Promise<ReadableThread> {
  const threadId = freshId('thread')
  let packageId = ''
  for (let i = 0; i < packages; i++) {
    const draft = await draftPackage(from, to, { threadId })
    const answer = await submit(from, draft)
    if (answer.status !== 202) throw new Error(answer.text)
    packageId = draft.metadata.package_id
  }
  return { threadId, packageId }
}
