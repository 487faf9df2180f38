import { threadsOfContents } from '../../content/threads-of-contents.ts'
import { agentOf, type Handler } from '../call.ts'

const DEFAULT_PAGE = 50

export const listThreads: Handler<'listThreads'> = async (call) => {
  const { agentId } = agentOf(call)
  const { limit = DEFAULT_PAGE, before: begin } = call.query
  const { threads, before } = await threadsOfContents(call.parts.contents, agentId, {
    limit,
    ...(begin !== undefined && { before: begin }),
  })
  return {
    body: {
      threads: threads.map(({ threadId, packages, lastPackageAt }) => ({
        thread_id: threadId,
        packages,
        last_package_at: lastPackageAt,
      })),
      ...(before !== undefined && { next_before: before }),
    },
  }
}
