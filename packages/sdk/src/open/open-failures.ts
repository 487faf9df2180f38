import { ExchangeError, type ExchangeErrorCode } from '../errors.ts'

/**
 * PKG-08: the receipt for a failure to open. `rejected`: the package is wrong, and the sender has to act. `failed`:
 * this side could not open it, and may try again. Other errors say nothing about the package (network, token,
 * unconfirmed key, expired content) and send no receipt.
 */
const RECEIPT_FOR: Partial<Record<ExchangeErrorCode, 'rejected' | 'failed'>> = {
  digest_mismatch: 'rejected',
  signature_invalid: 'rejected',
  content_mismatch: 'rejected',
  object_invalid: 'rejected',
  // The key is ours and the signature is valid, so the sender sealed it wrongly.
  content_not_opened: 'rejected',
  peer_unknown: 'rejected',
  peer_key_missing: 'rejected',
  peer_key_mismatch: 'rejected',
  peer_key_revoked: 'rejected',

  // Sealed for a key that this store lacks: a mistake of the sender, or a lost key.
  key_missing: 'failed',
  content_too_large: 'failed',
  connector_missing: 'failed',
  connector_failed: 'failed',
}

export function receiptFor(error: unknown): 'rejected' | 'failed' | undefined {
  // A retryable error is not final.
  return error instanceof ExchangeError && !error.retryable ? RECEIPT_FOR[error.code] : undefined
}
