import type { IncomingMessage } from 'node:http'
import { equalsInConstantTime } from '@agent-exchange/web'

/** Each proxy of AEX_TRUSTED_PROXIES sets it to the secret of AEX_PROXY_SECRET_FILE. */
export const PROXY_SECRET_HEADER = 'AEX-Proxy-Secret'
const NAME = PROXY_SECRET_HEADER.toLowerCase()

/**
 * Whether a request carries the secret, or none is needed. The first call removes the header, so that no log, trace or
 * handler sees it.
 */
export function createProxySecretCheck(secret: string | undefined): (request: IncomingMessage) => boolean {
  const checked = new WeakMap<IncomingMessage, boolean>()
  return (request) => {
    const known = checked.get(request)
    if (known !== undefined) return known
    const given = takeHeader(request)
    const isRight = secret === undefined || (given !== undefined && equalsInConstantTime(given, secret))
    checked.set(request, isRight)
    return isRight
  }
}

/**
 * Node joins repeated headers, so a second value never equals the secret. In the raw headers only the value is removed,
 * because Node derives other forms from their number.
 */
function takeHeader({ headers, rawHeaders }: IncomingMessage): string | undefined {
  const given = headers[NAME]
  if (given === undefined) return undefined
  delete headers[NAME]
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.toLowerCase() === NAME) rawHeaders[at + 1] = ''
  return String(given)
}
