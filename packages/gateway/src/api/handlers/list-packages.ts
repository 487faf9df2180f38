import { agentOf, type Handler } from '../call.ts'

const DEFAULT_PAGE = 50

export const listPackages: Handler<'listPackages'> = async (call) => {
  const { agentId } = agentOf(call)
  const { thread_id, before, limit = DEFAULT_PAGE } = call.query
  const found = await call.parts.contents.list(agentId, {
    limit,
    ...(thread_id !== undefined && { threadId: thread_id }),
    ...(before !== undefined && { before }),
  })
  const last = found.at(-1)
  return {
    body: {
      packages: found.map((each) => ({
        package_id: each.packageId,
        thread_id: each.threadId,
        direction: each.direction,
        content_type: each.contentType,
        stored_at: each.storedAt,
        ...(each.retentionUntil !== undefined && { retention_until: each.retentionUntil }),
        ...(each.deletedAt !== undefined && { deleted_at: each.deletedAt }),
      })),
      ...(last && found.length === limit && { next_before: last.packageId }),
    },
  }
}
