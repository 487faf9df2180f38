import type { Database } from '@agent-exchange/database'
import { exampleObjects, type ProtocolObject } from '@agent-exchange/protocol'
import { systemClock } from '@agent-exchange/server/clock'
import { testBox } from '../stores/gateway-database.fixture.ts'
import { openContentStore } from './open-content-store.ts'

export const testContents = (db: Database) => openContentStore({ db, box: testBox(), clock: systemClock })

/** Stores what an agent received. */
export async function storeContent(
  db: Database,
  agentId: string,
  packageId: string,
  object: ProtocolObject = exampleObjects.reasoning_package,
): Promise<void> {
  const content = { agentId, packageId, threadId: 'thread_1', direction: 'received', object } as const
  await db.begin((tx) => testContents(db).put(tx, { ...content, provenance: {} }))
}

/** As the retention does. */
export const deleteContent = (db: Database, packageId: string) =>
  db`update content set wrapped_key = null, sealed = null, deleted_at = now() where package_id = ${packageId}`

/** As somebody does who alters the database. */
export const alterContent = (db: Database, packageId: string) =>
  db`update content set sealed = set_byte(sealed, 0, get_byte(sealed, 0) # 1) where package_id = ${packageId}`
