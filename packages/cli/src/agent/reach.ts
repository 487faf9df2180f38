import { rootCertificates } from 'node:tls'
import type { Fetch } from '@agent-exchange/sdk'
import { createTlsFetch } from '@agent-exchange/sdk/node'
import { CommandFailure } from '../failure.ts'

const ANSWER_MS = 10_000
const CERTIFICATE_FAULT = /^(?:CERT_|ERR_TLS_|DEPTH_ZERO_|UNABLE_TO_|SELF_SIGNED_|ERR_SSL_)/u

/** Checks that the address answers. Fails with the reason. */
export async function reach(url: string, fetchFrom: Fetch): Promise<Response> {
  try {
    return await fetchFrom(url, { redirect: 'manual', signal: AbortSignal.timeout(ANSWER_MS) })
  } catch (error) {
    const code = codeOf(error)
    const advice = CERTIFICATE_FAULT.test(code)
      ? 'Its certificate is not trusted here; pass its certificate authority with --ca.'
      : 'Check the address, the network and that it is running.'
    throw new CommandFailure(`Nothing usable answers at ${url}${code === '' ? '' : ` (${code})`}. ${advice}`)
  }
}

/** The same for an address with a certificate of another authority. */
export async function reachAnywhere(url: string, authority: string | undefined): Promise<Response> {
  if (authority === undefined) return reach(url, fetch)
  await using tls = createTlsFetch({ ca: [authority, ...rootCertificates].join('\n') })
  return await reach(url, tls.fetch)
}

function codeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return cause instanceof Error && 'code' in cause ? String(cause.code) : ''
}
