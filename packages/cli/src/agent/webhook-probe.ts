import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'

const ANSWER_MS = 5_000
const HEADER = 'aex-probe'
const NONCE_BYTES = 16
/** The receiver's status for any method but POST. */
const NOT_A_POST = 405
const HTTPS_PORT = 443

/** Finds out whether a public address leads to this process. */
export interface WebhookProbe {
  /** Called for every request that the server of this process gets. */
  note(request: IncomingMessage): void
  /** What was found, with the cause and what to do. `port` is that on which this process listens. */
  run(url: string, port: number): Promise<string>
}

export function createWebhookProbe(): WebhookProbe {
  const nonce = randomBytes(NONCE_BYTES).toString('hex')
  let wasSeen = false
  return {
    note({ headers }) {
      wasSeen ||= headers[HEADER] === nonce
    },
    async run(url, port) {
      const result = await ask(url, nonce)
      if (wasSeen) return 'The address leads here.'
      return `${explain(new URL(url), port, result)} Until a webhook arrives, events come by polling.`
    },
  }
}

/** The status, or the code of the failure. The certificate is not verified: the exchange does that, with its own CAs. */
async function ask(url: string, nonce: string): Promise<number | string> {
  const headers = { [HEADER]: nonce }
  const asked = request(url, { headers, rejectUnauthorized: false, timeout: ANSWER_MS, agent: false })
  asked.on('timeout', () => asked.destroy(Object.assign(new Error('too late'), { code: 'ETIMEDOUT' })))
  asked.end()
  try {
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    response.destroy()
    return response.statusCode ?? 0
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'network'
  }
}

function explain(url: URL, port: number, result: number | string): string {
  const { hostname, href } = url
  const place = `${hostname}:${url.port === '' ? HTTPS_PORT : url.port}`
  const forward = `Let it forward to port ${port} of this machine.`
  if (result === NOT_A_POST) return `Another receiver answers at ${href}. ${forward}`
  if (typeof result === 'number') return `Something else answers at ${href} (status ${result}). ${forward}`
  if (/^(?:ENOTFOUND|EAI_AGAIN|ENODATA)$/u.test(result))
    return `The name ${hostname} is not known here (${result}). Correct --public-url, or add the name to the DNS.`
  if (/^(?:EPROTO|ERR_SSL_)/u.test(result))
    return `${place} does not speak TLS (${result}), and webhooks need it. Pass --cert and --key, or put a proxy with a certificate in front.`
  if (result === 'ECONNREFUSED') return `Nothing listens at ${place} (${result}). ${forward}`
  return `${place} cannot be reached from here (${result}). Check firewall and router; the exchange may still reach it: send a package, and see whether a webhook arrives.`
}
