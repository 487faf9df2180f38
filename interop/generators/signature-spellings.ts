import type { DetachedSignature } from '@agent-exchange/crypto'

type Spelling = [name: string, description: string, signature: DetachedSignature]

/** Other encodings of a detached signature (O-22); our packages write unpadded base64url. */
export function signatureSpellings(signature: DetachedSignature): Spelling[] {
  const standard = Buffer.from(signature.signature, 'base64url').toString('base64')
  const spellings = [
    ['padded', 'The same signature in base64url with padding.', `${signature.signature}==`],
    ['base64', 'The same signature in base64 with padding.', standard],
    ['base64-unpadded', 'The same signature in base64 without padding.', standard.replaceAll('=', '')],
  ] as const
  return spellings.map(([name, description, text]) => [name, description, { ...signature, signature: text }])
}
