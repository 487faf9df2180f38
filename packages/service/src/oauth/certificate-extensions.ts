import type { X509Certificate } from 'node:crypto'

/** The content of an object identifier, in hex: RFC 5280 section 4.2.1. */
export const EXTENSION = {
  keyUsage: '551d0f',
  subjectAlternativeName: '551d11',
  basicConstraints: '551d13',
  nameConstraints: '551d1e',
  extendedKeyUsage: '551d25',
} as const

export interface Extension {
  readonly isCritical: boolean
  /** DER of the extension's own type. */
  readonly value: Buffer
}

const TAG = { boolean: 0x01, integer: 0x02, bitString: 0x03, octetString: 0x04, extensions: 0xa3 }

interface Element {
  readonly tag: number
  readonly content: Buffer
}

/** Extensions by object identifier. Node exposes only some of them, and never the critical flag. */
export function extensionsOf({ raw }: X509Certificate): ReadonlyMap<string, Extension> {
  const tbsCertificate = childrenOf(contentOf(raw))[0]
  const wrapper = childrenOf(tbsCertificate?.content).find(({ tag }) => tag === TAG.extensions)
  return new Map(
    childrenOf(contentOf(wrapper?.content)).map(({ content }) => {
      const members = childrenOf(content)
      const value = members.find(({ tag }) => tag === TAG.octetString)?.content ?? Buffer.alloc(0)
      const isCritical = members.some((member) => member.tag === TAG.boolean && member.content[0] !== 0)
      return [members[0]?.content.toString('hex') ?? '', { isCritical, value }]
    }),
  )
}

/** RFC 5280 section 4.2.1.9. Undefined: any number of intermediate certificates may follow. */
export function pathLengthIn({ value }: Extension): number | undefined {
  const limit = childrenOf(contentOf(value)).find(({ tag }) => tag === TAG.integer)?.content
  if (!limit) return undefined
  return limit.length > 4 ? 0 : limit.readUIntBE(0, limit.length)
}

/** The first byte of the bit string, RFC 5280 section 4.2.1.3: bit 0 is the highest. */
export function keyUsageBitsIn({ value }: Extension): number {
  const [bits] = childrenOf(value)
  return (bits?.tag === TAG.bitString ? bits.content[1] : undefined) ?? 0
}

const contentOf = (der: Buffer | undefined): Buffer | undefined => childrenOf(der)[0]?.content

/** The elements of a DER sequence's content. OpenSSL has parsed the certificate, so lengths are consistent. */
function childrenOf(der: Buffer | undefined): Element[] {
  const children: Element[] = []
  for (let at = 0; der && at + 2 <= der.length;) {
    const short = der.readUInt8(at + 1)
    const lengthBytes = short < 0x80 ? 0 : short & 0x7f
    if (lengthBytes > 4 || at + 2 + lengthBytes > der.length) break
    const length = lengthBytes === 0 ? short : der.readUIntBE(at + 2, lengthBytes)
    const start = at + 2 + lengthBytes
    children.push({ tag: der.readUInt8(at), content: der.subarray(start, start + length) })
    at = start + length
  }
  return children
}
