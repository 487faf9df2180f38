import type { X509Certificate } from 'node:crypto'
import { EXTENSION, extensionsOf, keyUsageBitsIn, pathLengthIn } from './certificate-extensions.ts'

/** Why a forwarded certificate does not count as issued by a trusted CA. */
export type PathFailure = 'expired' | 'unsuitable' | 'unknown_issuer'

export interface CertificatePath {
  readonly leaf: X509Certificate
  /** Each one certifies the preceding one (RFC 9440 section 2.3). */
  readonly intermediates: readonly X509Certificate[]
  readonly authorities: readonly X509Certificate[]
  readonly now: Date
}

const CLIENT_AUTHENTICATION = '1.3.6.1.5.5.7.3.2'
/** digitalSignature or keyAgreement, as OpenSSL requires of TLS clients. */
const CLIENT_KEY_USAGE = 0x88
const PROCESSED = new Set<string>([
  EXTENSION.keyUsage,
  EXTENSION.subjectAlternativeName,
  EXTENSION.basicConstraints,
  EXTENSION.extendedKeyUsage,
])
const WEAK_SIGNATURE = /md5|sha1/iu

/**
 * Path validation as in RFC 5280 section 6, reduced: no revocation lists, and a certificate with an extension that this
 * check does not process is refused, above all name constraints. Decision 0005 says why no library does it.
 */
export function checkCertificatePath(path: CertificatePath): PathFailure | undefined {
  const { leaf, intermediates, authorities, now } = path
  const keyUsage = extensionsOf(leaf).get(EXTENSION.keyUsage)
  if (keyUsage && (keyUsageBitsIn(keyUsage) & CLIENT_KEY_USAGE) === 0) return 'unsuitable'
  let current = leaf
  for (const next of [...intermediates, undefined]) {
    const failure = failureOf(current, now)
    if (failure) return failure
    const below = intermediates.indexOf(current) + 1
    // A renewed authority and its predecessor may both match.
    const failures = authorities
      .filter((each) => isIssuedBy(current, each))
      .map((each) => issuerFailure(each, below) ?? failureOf(each, now))
    if (failures.length > 0) return failures.includes(undefined) ? undefined : failures[0]
    if (!next || !isIssuedBy(current, next)) return 'unknown_issuer'
    const unsuitable = issuerFailure(next, below)
    if (unsuitable) return unsuitable
    current = next
  }
  return 'unknown_issuer'
}

function failureOf(certificate: X509Certificate, now: Date): PathFailure | undefined {
  if (now < certificate.validFromDate || now > certificate.validToDate) return 'expired'
  const extensions = extensionsOf(certificate)
  const isUnprocessed = [...extensions].some(([id, each]) => each.isCritical && !PROCESSED.has(id))
  const usages: readonly string[] | undefined = certificate.keyUsage
  const isForClients = usages?.includes(CLIENT_AUTHENTICATION) ?? true
  return isUnprocessed || !isForClients || extensions.has(EXTENSION.nameConstraints)
    ? 'unsuitable'
    : undefined
}

function issuerFailure(issuer: X509Certificate, intermediatesBelow: number): PathFailure | undefined {
  const constraints = extensionsOf(issuer).get(EXTENSION.basicConstraints)
  const limit = constraints && pathLengthIn(constraints)
  const isTooLong = limit !== undefined && intermediatesBelow > limit
  return issuer.ca && !isTooLong ? undefined : 'unsuitable'
}

/** Names and key identifiers match, the issuer may sign certificates, and its signature is valid. */
function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  // OpenSSL refuses such signatures in a TLS handshake, but not here.
  if (WEAK_SIGNATURE.test(certificate.signatureAlgorithm ?? '')) return false
  try {
    return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey)
  } catch {
    // A key of an unsupported type.
    return false
  }
}
