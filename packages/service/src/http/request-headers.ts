import type { IncomingMessage } from 'node:http'
import { HEADER, type DeploymentProfile } from '@agent-exchange/protocol'
import { Problem } from '../kernel/problem.ts'

/** API-03, O-39: the value of a required header: opaque, visible ASCII, not repeated. */
export function requiredHeader(request: IncomingMessage, name: string, profile: DeploymentProfile): string {
  const value = optionalHeader(request, name, profile)
  if (value === undefined) throw new Problem('header_missing', { header: name })
  return value
}

export function optionalHeader(
  request: IncomingMessage,
  name: string,
  profile: DeploymentProfile,
): string | undefined {
  const values = request.headersDistinct[name.toLowerCase()] ?? []
  const [value] = values
  if (value === undefined) return undefined
  const isUsable =
    values.length === 1 && /^[\x21-\x7e]+$/.test(value) && value.length <= profile['O-39'].header_characters
  if (!isUsable) throw new Problem('header_invalid', { header: name })
  return value
}

/** Repeated Authorization headers are refused, because they may name different callers. */
export function authorizationHeader(request: IncomingMessage): string | undefined {
  const values = request.headersDistinct['authorization'] ?? []
  if (values.length > 1) throw new Problem('header_invalid', { header: 'Authorization' })
  return values[0]
}

/** RFC 9110 section 8.4.1: `identity` means no encoding; every other encoding is refused. */
export function requireReadableEncoding({ headers }: IncomingMessage): void {
  const codings = headers['content-encoding']?.split(',').map((coding) => coding.trim().toLowerCase()) ?? []
  if (codings.some((coding) => coding !== 'identity'))
    throw new Problem('media_type_unsupported', { reason: 'content_encoding' })
}

/** The caller's correlation id, or undefined if it is missing or invalid. */
export function correlationIdOf(request: IncomingMessage, profile: DeploymentProfile): string | undefined {
  try {
    return optionalHeader(request, HEADER.correlationId, profile)
  } catch {
    return undefined
  }
}
