import { parseDigest } from '@agent-exchange/crypto'
import type { Queries } from '../../db/database.ts'
import { Problem } from '../../kernel/problem.ts'
import { findArtifact } from './skill-store.ts'

export const ARTIFACT_PATH = '/skills/artifacts'
/** SHA-256 in lower-case hex, so that each artifact has exactly one name. */
const ARTIFACT_NAME = /^[0-9a-f]{64}$/

export function artifactAddress(publicUrl: string, digest: string): string {
  return `${publicUrl}${ARTIFACT_PATH}/${Buffer.from(parseDigest(digest)).toString('hex')}`
}

/** Reads an artifact by the last path segment of its artifact_url. */
export async function readArtifact(
  db: Queries,
  name: string,
): Promise<{ readonly digest: string; readonly content: Uint8Array }> {
  if (!ARTIFACT_NAME.test(name)) throw new Problem('resource_not_found')
  const digest = `sha-256=:${Buffer.from(name, 'hex').toString('base64')}:`
  const content = await findArtifact(db, digest)
  if (!content) throw new Problem('resource_not_found')
  return { digest, content }
}
