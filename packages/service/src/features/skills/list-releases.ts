import { protocolRangeIncludes, type DeploymentProfile, type SkillRelease } from '@agent-exchange/protocol'
import type { Database } from '../../db/database.ts'
import type { Read } from '../../kernel/call.ts'
import { makeCursor, readCursor } from '../../kernel/cursor.ts'
import { pageLimit } from '../../kernel/page.ts'
import { releasesAfter, type ReleaseRow } from './skill-store.ts'

/** Past so many releases that do not fit, a page ends early; its cursor leads on. */
const MAXIMUM_SCANNED = 5_000
const SCAN_STEP = 500

/** ID-09, API-06: in the order of publication, only those that fit where a protocol version is named. */
export const listSkillReleases: Read<'listSkillReleases'> = async ({ query, context }, db) => {
  const { profile, macKey } = context
  const version = query.protocol_version
  const limit = pageLimit(query.limit, profile, 'O-15')
  // The filter is part of the listing: a cursor goes on with the filter it began with, or not at all.
  const listing = `listSkillReleases ${version ?? ''}`
  const start = query.after === undefined ? 0 : Number(readCursor(macKey, listing, query.after))

  const { found, position, more } = await collect(db, { start, limit, fits: fitting(version, profile) })
  return {
    items: found.map(({ body }) => JSON.parse(body) as SkillRelease),
    next_cursor: more ? makeCursor(macKey, listing, position) : null,
    has_more: more,
  }
}

type Fits = (range: string) => boolean

/** O-06. A version that cannot be read fits nothing. Ranges are checked at publishing; the profile judges older ones. */
function fitting(version: string | undefined, profile: DeploymentProfile): Fits {
  if (version === undefined) return () => true
  if (protocolRangeIncludes(version, version) === undefined) return () => false
  const otherwise = profile['O-06'].unreadable_range === 'compatible'
  return (range) => protocolRangeIncludes(range, version) ?? otherwise
}

/** The next releases that fit, how far was read, and whether another one that fits may follow. */
async function collect(db: Database, { start, limit, fits }: { start: number; limit: number; fits: Fits }) {
  const found: ReleaseRow[] = []
  let position = start
  for (let scanned = 0; scanned < MAXIMUM_SCANNED; scanned += SCAN_STEP) {
    const rows = await releasesAfter(db, position, SCAN_STEP)
    for (const row of rows) {
      if (!fits(row.protocol_range)) {
        position = row.position
        continue
      }
      if (found.length === limit) return { found, position, more: true }
      found.push(row)
      position = row.position
    }
    if (rows.length < SCAN_STEP) return { found, position, more: false }
  }
  return { found, position, more: true }
}
