import type { StoredContent } from '../content/content-store.ts'
import { provenanceOf } from '../content/provenance.ts'

/** What a system gets of a package. */
export const openedContent = (content: StoredContent) => ({
  package_id: content.packageId,
  thread_id: content.threadId,
  direction: content.direction,
  object: content.object,
  provenance: provenanceOf(content),
})
