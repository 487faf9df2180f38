import type { EntryClaims } from './verify-chain.ts'

/** O-22: a statement counts once. Shown again, for this or for another package, it was copied. */
export class SignatureRegister {
  readonly #uses = new Map<string, number>()

  /** Whether the signature belongs to an earlier entry. */
  isCopied(entry: EntryClaims): boolean {
    const signature = inOneAlphabet(entry.textAt('proof/signature/signature') ?? '')
    const { position } = entry.value
    const first = this.#uses.get(signature) ?? position
    this.#uses.set(signature, first)
    return first !== position
  }
}

/** Signatures may be written in base64 or base64url, padded or not: the bytes count. */
function inOneAlphabet(text: string): string {
  return text.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '')
}
