/**
 * Descriptions of the token endpoint for a client that proved its identity and is refused all the same. Only that client
 * gets them: RFC 6749 section 5.2, `error_description` of `invalid_client`.
 */
export const TOKEN_REFUSALS = {
  organization_suspended: 'the organization is suspended',
  organization_ended: 'the organization has left the exchange',
  client_disabled: 'the client is disabled',
} as const

export type TokenRefusalCode = keyof typeof TOKEN_REFUSALS

export function tokenRefusalOf(description: string | undefined): TokenRefusalCode | undefined {
  const codes = Object.keys(TOKEN_REFUSALS) as TokenRefusalCode[]
  return codes.find((code) => TOKEN_REFUSALS[code] === description)
}
