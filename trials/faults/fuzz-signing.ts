import {
  encodeBase64url,
  signEnvelope,
  signManifest,
  signPackageStatement,
  signPolicyReceipt,
  type SealedPackage,
} from '@agent-exchange/crypto'
import type { OperationId } from '@agent-exchange/protocol'
import type { OperationRequest } from '@agent-exchange/testkit'

/** A change to the signed content before it is signed again, so that it passes signature verification. */
export type Change = (document: object) => unknown

type Resign = (request: OperationRequest, change: Change) => Promise<unknown>

/** Changes and re-signs the body, for each operation with a signature in its body. */
export const RESIGNED: Partial<Record<OperationId, Resign>> = {
  createPolicyReceipt: async ({ by, body }, change) => {
    const { signature: _signature, ...receipt } = body as Record<string, unknown>
    const changed = change(receipt) as object
    return { ...changed, signature: await signPolicyReceipt(changed, keyOf(by)) }
  },
  createPackageTransfer: resignPackage,
  createPackageResponse: resignPackage,
  createPackageReceipt: resignStatement,
  revokePackage: resignStatement,
}

function keyOf({ signing }: OperationRequest['by']) {
  return { key: signing.pair.privateKey, keyId: signing.keyId }
}

async function resignPackage({ by, body }: OperationRequest, change: Change): Promise<unknown> {
  const { keyId, key } = keyOf(by)
  if (body !== undefined && 'transport_mode' in body) {
    const { sender_signature: _signature, ...manifest } = body as Record<string, unknown>
    const changed = change(manifest) as object
    return { ...changed, sender_signature: await signManifest(changed, { key, keyId }) }
  }
  const { payload } = body as { payload: string }
  const inner = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object
  const changed = change(inner) as { metadata: object; jwe: SealedPackage }
  return signEnvelope(changed, { key, kid: keyId })
}

async function resignStatement({ by, body, path }: OperationRequest, change: Change): Promise<unknown> {
  const { signature: _signature, ...statement } = body as Record<string, unknown>
  const changed = change(statement) as object
  const packageId = path.split('/')[3] ?? ''
  return { ...changed, signature: await signPackageStatement(changed, { ...keyOf(by), packageId }) }
}

/** A JWS with a changed protected header. Its signature is invalid, but many checks precede verification. */
export function withHeader(body: object, change: Change): object {
  const { protected: header } = body as { protected?: string }
  if (header === undefined) return body
  const parsed = JSON.parse(Buffer.from(header, 'base64url').toString()) as object
  return { ...body, protected: encodeBase64url(Buffer.from(JSON.stringify(change(parsed)))) }
}
