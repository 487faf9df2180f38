type Part = Readonly<Record<string, unknown>>

/** Header and claims of a JWT, without verification. */
export function readToken(token: string): { readonly header: Part; readonly claims: Part } {
  const [header = '', claims = ''] = token.split('.')
  return { header: decode(header), claims: decode(claims) }
}

export function encodePart(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

/** Well-formed, and signed by nobody: its key id is unknown. */
export function inventedToken(): string {
  const header = { alg: 'ES256', typ: 'at+jwt', kid: 'invented' }
  return `${encodePart(header)}.${encodePart({ sub: 'x' })}.${Buffer.alloc(64, 1).toString('base64url')}`
}

function decode(part: string): Part {
  return JSON.parse(Buffer.from(part, 'base64url').toString()) as Part
}
