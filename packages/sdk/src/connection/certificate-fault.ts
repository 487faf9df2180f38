/** Codes of Node and OpenSSL for a certificate that does not verify. */
const FAULT = /^(?:CERT_|CRL_|ERR_TLS_|DEPTH_ZERO_|UNABLE_TO_|SELF_SIGNED_|INVALID_CA|HOSTNAME_MISMATCH)/u

const CAUSES: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'The certificate has expired.',
  CERT_NOT_YET_VALID: 'The certificate is not valid yet; check the clock of this machine.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate was issued for another name than that of the address.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate is self-signed.',
}
const UNKNOWN_AUTHORITY = 'No authority that this machine knows issued the certificate.'

/** What is wrong with the certificate of a server, by the code of the failed connection; undefined for other failures. */
export function certificateFault(code: string): string | undefined {
  return FAULT.test(code) ? (CAUSES[code] ?? UNKNOWN_AUTHORITY) : undefined
}
