/** A key in a token as a URI (RFC 7512), for example `pkcs11:token=aex;id=%01%a2;type=private`. It is not a secret. */
export interface KeyUri {
  readonly token: string
  readonly id: Uint8Array
}

const URI = /^pkcs11:token=([^;]+);id=((?:%[0-9a-f]{2})+);type=private$/u

export function formatKeyUri({ token, id }: KeyUri): string {
  const octets = Array.from(id, (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
  return `pkcs11:token=${encodeURIComponent(token)};id=${octets};type=private`
}

/** Undefined if it is not a URI of this form. */
export function parseKeyUri(text: string): KeyUri | undefined {
  const [, token, octets] = URI.exec(text) ?? []
  if (token === undefined || octets === undefined) return undefined
  try {
    return {
      token: decodeURIComponent(token),
      id: Uint8Array.from(Buffer.from(octets.replaceAll('%', ''), 'hex')),
    }
  } catch {
    return undefined
  }
}
