/** The keys of an identity provider, and the addresses of its metadata. */
export { fetchIssuerKeys } from './issuer-metadata.ts'
export { issuerKeys, IssuerUnavailable, type IssuerKeys } from './issuer-keys.ts'
export * from './well-known.ts'
