import { parseDigest } from '@agent-exchange/crypto'

export const ARTIFACT_PATH = '/skills/artifacts'

export function artifactAddress(publicUrl: string, digest: string): string {
  return `${publicUrl}${ARTIFACT_PATH}/${Buffer.from(parseDigest(digest)).toString('hex')}`
}
