import type { CallOptions } from '../run/organization.ts'
import { type Answer, isObject, parseObject } from '../wire/wire.ts'
import type { Agent } from './agent.ts'
import type { Draft } from './draft.ts'

const REDIRECTS = new Set([301, 302, 303, 307, 308])
const MAXIMUM_REDIRECTS = 3

/** Fetches an address that the service named. It may lead to a store of somebody else, which gets no token. */
export async function download(by: Agent, url: string, options?: CallOptions): Promise<Answer> {
  let address = url
  for (let redirects = 0; ; redirects++) {
    const answer = await by.organization.call('GET', address, undefined, options)
    const { location } = answer.headers
    if (!REDIRECTS.has(answer.status) || location === undefined || redirects === MAXIMUM_REDIRECTS)
      return answer
    address = new URL(location, address).href
  }
}

export const WITHOUT_TOKEN: CallOptions = { headers: { authorization: undefined } }

/** Whether a download holds the sealed content, whatever its form is (O-36). */
export function holdsContent({ text, bytes }: Answer, { body }: Draft): boolean {
  const payload = String(body['payload'])
  const { jwe } = parseObject(Buffer.from(payload, 'base64url').toString('utf8'))
  const ciphertext = isObject(jwe) ? String(jwe['ciphertext']) : ''
  const sealed = Buffer.from(ciphertext, 'base64url')
  return (
    [payload, ciphertext, sealed.toString('base64')].some((each) => text.includes(each)) ||
    Buffer.from(bytes).includes(sealed)
  )
}
