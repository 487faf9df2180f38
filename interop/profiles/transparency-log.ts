import { decodeBase64url, encodeBase64url } from '@agent-exchange/crypto'
import {
  bodyHash,
  chainRecordCommitment,
  chainRecordLabel,
  chainRecordLeaf,
  chainStart,
  deriveSalt,
  entryBody,
  keyCommitment,
  keyLabel,
  keyLeaf,
  LEAF_LENGTH,
  leafHash,
  nextLink,
  openCheckpoint,
  originLeaf,
  parseProof,
  parseVerifierKey,
  recordCommitment,
  recordLabel,
  recordLeaf,
  verifyConsistency,
  verifyInclusion,
  type Visibility,
} from '@agent-exchange/log'
import { profile } from './profile.ts'

interface Salted {
  readonly batch_secret: string
  readonly offset: number
}

const saltOf = ({ batch_secret, offset }: Salted) => deriveSalt(decodeBase64url(batch_secret), offset)

function leafParts(salt: Uint8Array, label: Uint8Array, commitment: Uint8Array, leaf: Uint8Array): object {
  return {
    salt: encodeBase64url(salt),
    label: encodeBase64url(label),
    commitment: encodeBase64url(commitment),
    leaf_hash: encodeBase64url(leafHash(leaf)),
  }
}

interface RecordInput extends Salted {
  readonly package_id: string
  readonly content_digest: string
  readonly receipt_signature: string
  readonly thread_id: string
  readonly first_position: number
  readonly last_position: number
  readonly previous_hash: string | null
  readonly entry_hashes: readonly string[]
}

export const logRecordLeaf = profile(async (input: RecordInput) => {
  const salt = saltOf(input)
  const record = {
    ...identityOf(input),
    threadId: input.thread_id,
    firstPosition: input.first_position,
    lastPosition: input.last_position,
    previousHash: input.previous_hash,
    entryHashes: input.entry_hashes,
  }
  return leafParts(salt, recordLabel(record), recordCommitment(record, salt), recordLeaf(record, salt))
})

interface PackageInput {
  readonly package_id: string
  readonly thread_id: string
  readonly content_digest: string
  readonly receipt_signature: string
}

const identityOf = (input: Omit<PackageInput, 'thread_id'>) => ({
  packageId: input.package_id,
  contentDigest: input.content_digest,
  receiptSignature: input.receipt_signature,
})

interface ChainInput extends PackageInput {
  readonly entries: readonly {
    readonly kind: string
    readonly visibility: Visibility
    readonly body?: { readonly event?: object; readonly proof: object }
    readonly body_hash?: string
  }[]
}

const fromHex = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'))
const toHex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

export const logPackageChain = profile(async (input: ChainInput) => {
  let link = chainStart({ ...identityOf(input), threadId: input.thread_id })
  const start = toHex(link)
  const links = input.entries.map(({ kind, visibility, body, body_hash }, index) => {
    const hash = body ? bodyHash(entryBody(body)) : fromHex(body_hash ?? '')
    link = nextLink(link, { position: index + 1, kind, visibility, bodyHash: hash })
    return { body_hash: toHex(hash), link: toHex(link) }
  })
  return { start, links }
})

interface ChainRecordInput extends Salted, Omit<PackageInput, 'thread_id'> {
  readonly first_position: number
  readonly last_position: number
  readonly link_before: string
  readonly last_link: string
}

export const logChainRecordLeaf = profile(async (input: ChainRecordInput) => {
  const salt = saltOf(input)
  const record = {
    ...identityOf(input),
    firstPosition: input.first_position,
    lastPosition: input.last_position,
    linkBefore: fromHex(input.link_before),
    lastLink: fromHex(input.last_link),
  }
  return leafParts(
    salt,
    chainRecordLabel(record),
    chainRecordCommitment(record, salt),
    chainRecordLeaf(record, salt),
  )
})

interface KeyEventInput extends Salted {
  readonly organization_id: string
  readonly agent_id: string
  readonly number: number
  readonly key_id: string
  readonly kind: string
  readonly use: string
  readonly thumbprint: string
  readonly valid_from: string
  readonly recorded_at: string
  readonly invalid_from?: string
}

export const logKeyLeaf = profile(async (input: KeyEventInput) => {
  const salt = saltOf(input)
  const event = {
    organizationId: input.organization_id,
    agentId: input.agent_id,
    number: input.number,
    keyId: input.key_id,
    kind: input.kind,
    use: input.use,
    thumbprint: input.thumbprint,
    validFrom: input.valid_from,
    recordedAt: input.recorded_at,
    invalidFrom: input.invalid_from,
  }
  return leafParts(salt, keyLabel(event), keyCommitment(event, salt), keyLeaf(event, salt))
})

interface OriginInput {
  readonly origin: string
  readonly previous_origin: string
  readonly previous_size: number
  readonly previous_root: string
}

export const logOriginLeaf = profile(async (input: OriginInput) => {
  const leaf = originLeaf(input.origin, {
    origin: input.previous_origin,
    size: input.previous_size,
    root: decodeBase64url(input.previous_root),
  })
  return {
    label: encodeBase64url(leaf.subarray(0, LEAF_LENGTH / 2)),
    commitment: encodeBase64url(leaf.subarray(LEAF_LENGTH / 2)),
    leaf_hash: encodeBase64url(leafHash(leaf)),
  }
})

interface Signed {
  readonly verifier_keys: readonly string[]
}

export const logCheckpoint = profile(async ({ note, verifier_keys }: Signed & { note: string }) => {
  const { origin, size, root, signatures } = await openCheckpoint(note, verifier_keys.map(parseVerifierKey))
  return {
    origin,
    size,
    root: encodeBase64url(root),
    signatures: signatures.map(({ key, time }) => ({ name: key.name, ...(time !== undefined && { time }) })),
  }
})

export const logInclusion = profile(
  async ({ leaf, proof, verifier_keys }: Signed & { leaf: string; proof: string }) => {
    const { index, hashes, checkpoint } = parseProof(proof)
    const { size, root } = await openCheckpoint(checkpoint, verifier_keys.map(parseVerifierKey))
    verifyInclusion({ index, size, root, leafHash: leafHash(decodeBase64url(leaf)), proof: hashes })
    return { index, size }
  },
)

interface ConsistencyInput {
  readonly old_size: number
  readonly old_root: string
  readonly new_size: number
  readonly new_root: string
  readonly proof: readonly string[]
}

export const logConsistency = profile(async (input: ConsistencyInput) => {
  verifyConsistency({
    oldSize: input.old_size,
    oldRoot: decodeBase64url(input.old_root),
    newSize: input.new_size,
    newRoot: decodeBase64url(input.new_root),
    proof: input.proof.map((hash) => decodeBase64url(hash)),
  })
  return { consistent: true }
})
