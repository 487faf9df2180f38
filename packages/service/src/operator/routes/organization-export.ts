import { Type } from 'typebox'
import { EXPORT_SECTIONS } from '../../features/organizations/export-sections.ts'
import { findOrganization } from '../../features/organizations/organization-store.ts'
import type { Context } from '../../kernel/context.ts'
import { makeCursor, readCursor } from '../../kernel/cursor.ts'
import { Problem } from '../../kernel/problem.ts'
import { change, input, optionalReason, read, type OperatorCall, type Route } from '../route.ts'

const PATH = '/organizations/:organization_id/export'
const MAXIMUM_CURSOR_CHARACTERS = 4_096
const EXPORT_FORMAT = 'aex-organization-export'
const EXPORT_VERSION = 1

/** Section and position in it. */
type Position = readonly [section: number, after?: string]

/** Records in the operator log that the data leaves the exchange, and gives the first cursor. */
const beginExport = change(PATH, { body: input({ reason: optionalReason }) }, async (call, tx) => {
  const id = exportableId(call)
  if (!(await findOrganization(tx, id))) throw new Problem('resource_not_found')
  const answer = {
    format: EXPORT_FORMAT,
    version: EXPORT_VERSION,
    organization_id: id,
    exchange: call.context.publicUrl,
    exported_at: call.now,
    next_cursor: cursorOf(call.context, id, [0]),
  }
  return { answer, action: 'organization.export', target: id }
})

/** One bounded page. A page may have no records and still a next cursor. */
const readExport = read(
  PATH,
  input({ after: Type.String({ minLength: 1, maxLength: MAXIMUM_CURSOR_CHARACTERS }) }),
  async (call, db) => {
    const { context, now, input: query } = call
    const id = exportableId(call)
    const [index, after] = JSON.parse(readCursor(context.macKey, listingOf(id), query.after)) as Position
    const section = EXPORT_SECTIONS[index]
    if (!section) throw new Problem('cursor_invalid')
    const { records, next } = await section.read({ db, organizationId: id, after, context, now })
    const isLast = next === undefined && index + 1 === EXPORT_SECTIONS.length
    const position: Position = next === undefined ? [index + 1] : [index, next]
    return {
      records: records.map((data) => ({ type: section.type, data })),
      next_cursor: isLast ? null : cursorOf(context, id, position),
    }
  },
  { role: 'operator' },
)

export const organizationExportRoutes: readonly Route[] = [beginExport, readExport]

function cursorOf({ macKey }: Context, organizationId: string, position: Position): string {
  return makeCursor(macKey, listingOf(organizationId), JSON.stringify(position))
}

function listingOf(organizationId: string): string {
  return JSON.stringify(['operator', 'organization export', organizationId])
}

function exportableId({ params, context }: OperatorCall<unknown>): string {
  const id = params['organization_id'] ?? ''
  if (id === context.profile['O-42'].organization_id) throw new Problem('not_permitted')
  return id
}
