import { PACKAGE_STATES, timestamp } from '@agent-exchange/protocol'
import { Type } from 'typebox'
import { findAgent } from '../../features/agents/agent-store.ts'
import { listPackages, type PackageFilter } from '../../features/packages/list-packages.ts'
import { findPackageDetails, packagesOfThread } from '../../features/packages/package-facts.ts'
import { readTimeline } from '../../features/timeline/read-timeline.ts'
import { findThread } from '../../features/threads/store.ts'
import { makeCursor, readCursor } from '../../kernel/cursor.ts'
import { pageLimit } from '../../kernel/page.ts'
import { Problem } from '../../kernel/problem.ts'
import { filter, pageFields } from '../listing.ts'
import { input, read, type Route } from '../route.ts'

/** Packages whose steps one answer has. */
const DEFAULT_PACKAGES_PER_THREAD_PAGE = 10
const MAXIMUM_PACKAGES_PER_THREAD_PAGE = 50

const packageFilter = input({
  ...pageFields,
  organization_id: filter,
  agent_id: filter,
  state: Type.Optional(Type.Enum([...PACKAGE_STATES])),
  since: Type.Optional(timestamp),
  until: Type.Optional(timestamp),
})

// Newest first. A page may be short, or empty, and still have a next one.
export const listPackagesRoute = read('/packages', packageFilter, async ({ input: query, context }, db) => {
  const { profile, macKey } = context
  const limit = pageLimit(query.limit, profile, 'O-15')
  const agent = query.agent_id === undefined ? undefined : await findAgent(db, query.agent_id)
  if (query.agent_id !== undefined && !agent) return { items: [], next_cursor: null, has_more: false }
  const wanted: PackageFilter = {
    organizationId: query.organization_id ?? agent?.organization_id,
    agentId: query.agent_id,
    state: query.state,
    since: query.since,
    until: query.until,
  }
  const listing = JSON.stringify(['operator', 'packages', wanted])
  const { rows, next } = await listPackages(db, wanted, {
    after: query.after === undefined ? undefined : readCursor(macKey, listing, query.after),
    limit,
    party: profile['O-25'].parties[0] ?? 'sender',
  })
  return {
    items: rows.map(({ position: _position, ...facts }) => facts),
    next_cursor: next === undefined ? null : makeCursor(macKey, listing, next),
    has_more: next !== undefined,
  }
})

export const showPackageRoute = read('/packages/:package_id', input({}), async ({ params }, db) => {
  const found = await findPackageDetails(db, params['package_id'] ?? '')
  if (!found) throw new Problem('resource_not_found')
  return { ...found, ...(await readTimeline(db, [found])) }
})

const threadPage = input({
  after: pageFields.after,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAXIMUM_PACKAGES_PER_THREAD_PAGE })),
})

export const showThreadRoute = read('/threads/:thread_id', threadPage, async (call, db) => {
  const { params, input: query, context } = call
  const thread = await findThread(db, params['thread_id'] ?? '')
  if (!thread) throw new Problem('resource_not_found')
  const limit = query.limit ?? DEFAULT_PACKAGES_PER_THREAD_PAGE
  const listing = JSON.stringify(['operator', 'thread', thread.thread_id])
  const after = query.after === undefined ? 0 : Number(readCursor(context.macKey, listing, query.after))
  const rows = await packagesOfThread(db, { threadId: thread.thread_id, after, limit: limit + 1 })
  const packages = rows.slice(0, limit)
  const last = packages.at(-1)
  const hasMore = rows.length > limit && last !== undefined
  return {
    ...thread,
    packages,
    ...(await readTimeline(db, packages)),
    next_cursor: hasMore ? makeCursor(context.macKey, listing, last.thread_position) : null,
    has_more: hasMore,
  }
})

export const packageRoutes: readonly Route[] = [listPackagesRoute, showPackageRoute, showThreadRoute]
