import { ExchangeError, type ExchangeErrorCode } from '../errors.ts'

/**
 * PKG-08: which failure to open is told to the sender, and how. `rejected`: what came cannot be right, and the
 * sender has to do something. `failed`: this side could not, and may try again. What is not here says nothing about
 * the package (the network, a token, a key that a person still has to confirm, content that is gone) and leaves no
 * receipt.
 */
const RECEIPT_FOR: Partial<Record<ExchangeErrorCode, 'rejected' | 'failed'>> = {
  digest_mismatch: 'rejected',
  signature_invalid: 'rejected',
  content_mismatch: 'rejected',
  object_invalid: 'rejected',
  // The key is ours and the signature holds, so it was sealed wrongly.
  content_not_opened: 'rejected',
  peer_unknown: 'rejected',
  peer_key_missing: 'rejected',
  peer_key_mismatch: 'rejected',
  peer_key_revoked: 'rejected',

  // Sealed for a key that this store does not have: the sender may have erred, or the key may be lost.
  key_missing: 'failed',
  content_too_large: 'failed',
  connector_missing: 'failed',
  connector_failed: 'failed',
}

export function receiptFor(error: unknown): 'rejected' | 'failed' | undefined {
  // What may succeed in a moment has not failed.
  return error instanceof ExchangeError && !error.retryable ? RECEIPT_FOR[error.code] : undefined
}
