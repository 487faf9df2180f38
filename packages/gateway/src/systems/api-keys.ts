import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { Queries } from '@agent-exchange/database'
import { isVerb, type Verb } from './verbs.ts'

/** Owner of the table company_system. */

export const API_KEY_PREFIX = 'aexg_'
const API_KEY = /^aexg_[\w-]{43}$/u
const KEY_BYTES = 32
/** Enough to recognize a key in a list, too little to guess it. */
const SHOWN_CHARACTERS = 9
const MAXIMUM_SYSTEMS = 1_000

export interface CompanySystem {
  readonly systemId: string
  readonly name: string
  /** The first characters of its key. */
  readonly keyStart: string
  readonly agents: readonly string[]
  readonly verbs: readonly Verb[]
  readonly createdAt: string
  readonly lastUsedAt: string | null
  readonly revokedAt: string | null
}

interface SystemRow {
  readonly system_id: string
  readonly name: string
  readonly key_start: string
  readonly agents: readonly string[]
  readonly verbs: readonly string[]
  readonly created_at: string
  readonly last_used_at: string | null
  readonly revoked_at: string | null
}

const toSystem = (row: SystemRow): CompanySystem => ({
  systemId: row.system_id,
  name: row.name,
  keyStart: row.key_start,
  agents: row.agents,
  verbs: row.verbs.filter(isVerb),
  createdAt: row.created_at,
  lastUsedAt: row.last_used_at,
  revokedAt: row.revoked_at,
})

const hashOf = (key: string) => createHash('sha256').update(key).digest()

/** The key is shown once: the table holds its hash. */
export async function addSystem(
  db: Queries,
  { name, agents, verbs }: { name: string; agents: readonly string[]; verbs: readonly Verb[] },
): Promise<{ readonly system: CompanySystem; readonly key: string }> {
  const key = API_KEY_PREFIX + randomBytes(KEY_BYTES).toString('base64url')
  const [row] = await db<SystemRow[]>`
    insert into company_system (system_id, name, key_hash, key_start, agents, verbs)
    select ${`system_${randomUUID()}`}, ${name}, ${hashOf(key)}, ${key.slice(0, SHOWN_CHARACTERS)},
      ${[...agents]}, ${[...verbs]}
    where (select count(*) from company_system where revoked_at is null) < ${MAXIMUM_SYSTEMS}
    returning *`
  if (!row)
    throw new Error(
      `There are ${MAXIMUM_SYSTEMS} systems. Revoke those that are not used: aex gateway system revoke.`,
    )
  return { system: toSystem(row), key }
}

/** Undefined for a key that is unknown or revoked. */
export async function findSystemByKey(db: Queries, key: string): Promise<CompanySystem | undefined> {
  if (!API_KEY.test(key)) return undefined
  const [row] = await db.byIndex<SystemRow[]>`
    select * from company_system where key_hash = ${hashOf(key)} and revoked_at is null`
  return row && toSystem(row)
}

export async function listSystems(db: Queries): Promise<CompanySystem[]> {
  const rows = await db<SystemRow[]>`
    select * from company_system order by created_at, system_id limit ${2 * MAXIMUM_SYSTEMS}`
  return rows.map(toSystem)
}

/** False if there is no such system. Revoking it again changes nothing. */
export async function revokeSystem(db: Queries, systemId: string): Promise<boolean> {
  const { count } = await db`
    update company_system set revoked_at = coalesce(revoked_at, now()) where system_id = ${systemId}`
  return count > 0
}

export async function recordUse(db: Queries, systemIds: readonly string[]): Promise<void> {
  if (systemIds.length === 0) return
  await db`update company_system set last_used_at = now() where system_id = any(${[...systemIds]})`
}
