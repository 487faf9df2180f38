import {
  canonicalBytes,
  canonicalize,
  encodeBase64url,
  parseDigest,
  readDetached,
  sha256Digest,
  signatureBytes,
  type SignatureMember,
} from '@agent-exchange/crypto'
import type { SignatureFinding, SignedSubject } from './signature-finding.ts'

/** Bytes that a faulty signer may have signed, and the explanation. */
export interface SignedVariant {
  readonly code: Exclude<SignatureFinding['code'], 'other_key' | 'nothing_fits'> | 'as_it_came'
  readonly message: string
  readonly member?: string
  readonly bytes: Uint8Array
}

/** Members that are omitted one by one. */
const MAXIMUM_MEMBERS = 64
const encoder = new TextEncoder()

const MESSAGES = {
  json_text: 'The signature covers the JSON text as it was written, not its RFC 8785 form.',
  reserialized: 'The payload was serialized again after it was signed. Forward it byte for byte.',
  hashed_twice: 'The signature covers a SHA-256 of the text; ES256 hashes by itself, so sign the text.',
  other_package: 'The signature covers the body under another package_id, or with none.',
} as const

/** The 64 bytes of the signature, or undefined for another encoding. */
export function signatureOf(subject: SignedSubject): Uint8Array | undefined {
  if (subject.kind === 'envelope') return subject.envelope.signature
  try {
    return signatureBytes(readDetached(subject.object, memberOf(subject)))
  } catch {
    return undefined
  }
}

/** Candidates for the signed bytes. */
export async function variantsOf(subject: SignedSubject): Promise<SignedVariant[]> {
  const variants = subject.kind === 'envelope' ? envelopeVariants(subject) : detachedVariants(subject)
  const hashed = await Promise.all(
    variants.slice(0, 2).map(async ({ bytes }) => parseDigest(await sha256Digest(bytes))),
  )
  return [...variants, ...hashed.map((bytes) => variant('hashed_twice', bytes))]
}

type Detached = Exclude<SignedSubject, { kind: 'envelope' }>

function detachedVariants(subject: Detached): SignedVariant[] {
  const member = memberOf(subject)
  const plain = without(subject.object, member)
  const body = subject.kind === 'statement' ? { ...plain, package_id: subject.packageId } : plain
  return [
    asItCame(canonicalBytes(body)),
    variant('json_text', encoder.encode(JSON.stringify(body))),
    ...(subject.kind === 'statement' ? [variant('other_package', canonicalBytes(plain))] : []),
    ...withoutEach(body),
  ]
}

/**
 * Omits each member, and each member of a member: an intermediary may have added one. Members are chosen before any
 * copy, so that a large object costs at most {@link MAXIMUM_MEMBERS} copies.
 */
function withoutEach(body: object): SignedVariant[] {
  const members = Object.entries(body).slice(0, MAXIMUM_MEMBERS) as [string, unknown][]
  const outer = members.map(([name]) => ({ member: name, rest: () => without(body, name) }))
  const inner = members.flatMap(([name, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.keys(value)
          .slice(0, MAXIMUM_MEMBERS)
          .map((deeper) => ({
            member: `${name}.${deeper}`,
            rest: () => ({ ...body, [name]: without(value, deeper) }),
          }))
      : [],
  )
  return [...outer, ...inner].slice(0, MAXIMUM_MEMBERS).map(({ member, rest }) => ({
    code: 'member_added',
    member,
    message: `The signature covers the object without ${member}.`,
    bytes: canonicalBytes(rest()),
  }))
}

function envelopeVariants({ envelope }: Extract<SignedSubject, { kind: 'envelope' }>): SignedVariant[] {
  const { metadata, jwe, signingInput } = envelope
  const [header = ''] = new TextDecoder().decode(signingInput).split('.')
  const payload = { metadata, jwe }
  const signed = (text: string) => encoder.encode(`${header}.${encodeBase64url(encoder.encode(text))}`)
  return [
    asItCame(signingInput),
    variant('reserialized', signed(canonicalize(payload))),
    variant('reserialized', signed(JSON.stringify(payload))),
    variant('reserialized', signed(JSON.stringify({ jwe, metadata }))),
  ]
}

function memberOf({ kind }: Detached): SignatureMember {
  return kind === 'manifest' ? 'sender_signature' : 'signature'
}

function without(object: object, member: string): object {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== member))
}

function variant(code: keyof typeof MESSAGES, bytes: Uint8Array): SignedVariant {
  return { code, message: MESSAGES[code], bytes }
}

function asItCame(bytes: Uint8Array): SignedVariant {
  return { code: 'as_it_came', message: '', bytes }
}
