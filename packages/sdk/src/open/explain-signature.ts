import { importPublicJwk, verifyEs256, type PublicKey } from '@agent-exchange/crypto'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import type { PeerKey } from '../peers/peer-directory.ts'
import type { SignatureFinding, SignedSubject } from './signature-finding.ts'
import { signatureOf, variantsOf } from './signature-variants.ts'

export interface CandidateKey {
  readonly keyId: string
  readonly publicKey: PublicKey
}

/** Other keys of the agent that are tried. */
const MAXIMUM_CANDIDATES = 20
/** Bytes that are hashed to explain one failure. Large content is tried with fewer keys. */
const MAXIMUM_EXPLAINED_BYTES = 67_108_864

/**
 * Explains an invalid signature by trying frequent causes: another key of the same agent, JSON that was serialized
 * again in transit, a signature over the raw text or over a hash, an added member. The first candidate is the key
 * that the signature names. It never accepts a signature.
 *
 * @example
 * const findings = await explainSignatureFailure({ kind: 'policy_receipt', object: receipt }, [{ keyId, publicKey }])
 * for (const { message } of findings) console.error(message)
 */
export async function explainSignatureFailure(
  subject: SignedSubject,
  candidates: readonly CandidateKey[],
): Promise<readonly SignatureFinding[]> {
  const signature = signatureOf(subject)
  if (!signature) {
    const message = 'The signature is not 64 bytes r||s in base64url; a DER signature has to be converted.'
    return [{ code: 'signature_encoding', message }]
  }
  const variants = await variantsOf(subject)
  const findings: SignatureFinding[] = []
  let budget = MAXIMUM_EXPLAINED_BYTES
  for (const [index, { keyId, publicKey }] of candidates.slice(0, MAXIMUM_CANDIDATES).entries()) {
    for (const { bytes, ...variant } of variants) {
      budget -= bytes.length
      if (budget < 0) return [NOTHING_FITS]
      if (!(await verifyEs256(publicKey, bytes, signature))) continue
      if (index > 0) {
        const message = 'Another key of the same agent made this signature than the one that it names.'
        findings.push({ code: 'other_key', message, keyId })
      }
      if (variant.code !== 'as_it_came') findings.push({ ...variant, code: variant.code })
      if (findings.length > 0) return findings
    }
  }
  return [NOTHING_FITS]
}

const NOTHING_FITS: SignatureFinding = {
  code: 'nothing_fits',
  message:
    'No key of the agent fits, and none of the usual mistakes explains it: the content or the signature was changed.',
}

export interface SignatureFailure {
  readonly what: string
  readonly subject: SignedSubject
  readonly key: PeerKey
  readonly cause: unknown
}

/** The error for an invalid signature, with its likely cause. */
export async function signatureFailure(
  context: AgentContext,
  { what, subject, key, cause }: SignatureFailure,
): Promise<ExchangeError> {
  const others = await otherKeysOf(context, key)
  const findings = await explainSignatureFailure(subject, [key, ...others])
  const { agentId, keyId } = key
  const [first] = findings
  return new ExchangeError('signature_invalid', {
    what: first ? `${what} ${first.message}` : what,
    details: { agentId, keyId, findings },
    cause,
  })
}

/** For the explanation only: keys of the directory, pinned or not. */
async function otherKeysOf({ connection }: AgentContext, named: PeerKey): Promise<CandidateKey[]> {
  try {
    const { keys } = await connection.call('getAgentKeys', { path: { agent_id: named.agentId } })
    const others = keys.filter(({ key_id, use }) => use === 'signing' && key_id !== named.keyId)
    return await Promise.all(
      others.slice(0, MAXIMUM_CANDIDATES).map(async ({ key_id, public_key }) => ({
        keyId: key_id,
        publicKey: await importPublicJwk(public_key, { use: 'signing' }),
      })),
    )
  } catch {
    return []
  }
}
