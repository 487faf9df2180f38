import { protocolRangeIncludes, type DeploymentProfile, type SkillRelease } from '@agent-exchange/protocol'
import type { Queries } from '@agent-exchange/database'
import type { ReplicaRead } from '../../kernel/call.ts'
import { makeCursor, readCursor } from '../../kernel/cursor.ts'
import { pageLimit } from '../../kernel/page.ts'
import { releasesAfter, type ReleaseRow } from './skill-store.ts'

/** A page ends early after this many scanned releases; its cursor continues there. */
const MAXIMUM_SCANNED = 5_000
const SCAN_STEP = 500

/** ID-09, API-06: releases in order of publication, optionally those compatible with one protocol version. */
export const listSkillReleases: ReplicaRead<'listSkillReleases'> = async ({ query, context }, db) => {
  const { profile, macKey } = context
  const version = query.protocol_version
  const limit = pageLimit(query.limit, profile, 'O-15')
  // A cursor is valid only with the filter that it was created with.
  const listing = `listSkillReleases ${version ?? ''}`
  const start = query.after === undefined ? 0 : Number(readCursor(macKey, listing, query.after))

  const { found, position, more } = await collect(db, {
    start,
    limit,
    isCompatible: compatibleWith(version, profile),
  })
  return {
    items: found.map(({ body }) => JSON.parse(body) as SkillRelease),
    next_cursor: more ? makeCursor(macKey, listing, position) : null,
    has_more: more,
  }
}

type IsCompatible = (range: string) => boolean

/** O-06. An invalid version matches nothing. Ranges are validated at publication; the profile decides about older ones. */
function compatibleWith(version: string | undefined, profile: DeploymentProfile): IsCompatible {
  if (version === undefined) return () => true
  if (protocolRangeIncludes(version, version) === undefined) return () => false
  const fallback = profile['O-06'].unreadable_range === 'compatible'
  return (range) => protocolRangeIncludes(range, version) ?? fallback
}

/** The next compatible releases, the last position read, and whether more may follow. */
async function collect(
  db: Queries,
  { start, limit, isCompatible }: { start: number; limit: number; isCompatible: IsCompatible },
) {
  const found: ReleaseRow[] = []
  let position = start
  for (let scanned = 0; scanned < MAXIMUM_SCANNED; scanned += SCAN_STEP) {
    const rows = await releasesAfter(db, position, SCAN_STEP)
    for (const row of rows) {
      if (!isCompatible(row.protocol_range)) {
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
