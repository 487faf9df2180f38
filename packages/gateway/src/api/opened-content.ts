import type { StoredContent } from '../content/content-store.ts'

/** What a system gets of a package. What the sender asked for travels in its provenance. */
export const openedContent = ({ packageId, threadId, direction, object, provenance }: StoredContent) => ({
  package_id: packageId,
  thread_id: threadId,
  direction,
  object,
  provenance,
})
