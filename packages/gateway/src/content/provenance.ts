import type { StoredContent } from './content-store.ts'

/**
 * What a system gets beside the object: where it comes from, what its sender asked for, what the sender's policy says
 * about language models, and when the gateway deletes its copy.
 */
export const provenanceOf = ({ provenance, modelUse, retentionUntil }: StoredContent) => ({
  ...provenance,
  ...(modelUse && { model_use: modelUse }),
  ...(retentionUntil !== undefined && { retention_until: retentionUntil }),
})
