import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommandFailure } from '../../failure.ts'
import { aexStep } from '../../next-step.ts'

/** Address and token of the operator API. */
export interface OperatorAccess {
  readonly url: string
  readonly token: string
  /** Origin of the token, for messages. */
  readonly tokenSource: string
}

const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost'])
const ANY_ADDRESS = new Set(['0.0.0.0', '::'])

type Environment = Readonly<Record<string, string | undefined>>

export function operatorAccess(env: Environment = process.env): OperatorAccess {
  return { url: addressFrom(env), ...tokenFrom(env) }
}

/** AEX_OPERATOR_URL, or the address of a service with the same environment. */
function addressFrom(env: Environment): string {
  const text = env['AEX_OPERATOR_URL'] || localAddress(env)
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.password !== '') {
    throw new CommandFailure('AEX_OPERATOR_URL must be an http(s) address such as http://127.0.0.1:8081.')
  }
  if (url.protocol === 'http:' && !LOOPBACK.has(url.hostname)) {
    throw new CommandFailure(
      `The operator token would be sent to ${url.host} unencrypted. Set AEX_OPERATOR_URL to an https address.`,
    )
  }
  return url.href.replace(/\/+$/, '')
}

function localAddress(env: Environment): string {
  const host = env['AEX_OPERATOR_HOST'] || '127.0.0.1'
  const reachable = ANY_ADDRESS.has(host) ? '127.0.0.1' : host
  const scheme = env['AEX_TLS_CERT'] ? 'https' : 'http'
  const authority = reachable.includes(':') ? `[${reachable}]` : reachable
  return `${scheme}://${authority}:${env['AEX_OPERATOR_PORT'] || '8081'}`
}

function tokenFrom(env: Environment): Pick<OperatorAccess, 'token' | 'tokenSource'> {
  const given = env['AEX_OPERATOR_TOKEN']
  if (given) return { token: usable(given, 'AEX_OPERATOR_TOKEN'), tokenSource: 'AEX_OPERATOR_TOKEN' }
  const file = join(env['AEX_DATA_DIR'] || './data', 'operator-token')
  try {
    return { token: usable(readFileSync(file, 'utf8'), file), tokenSource: `the file ${file}` }
  } catch (error) {
    if (error instanceof CommandFailure) throw error
    throw new CommandFailure(
      `There is no operator token: AEX_OPERATOR_TOKEN is not set and ${file} cannot be read.\n` +
        `The service writes that file at its first start (${aexStep('serve')}). Run this where the service runs, set ` +
        'AEX_DATA_DIR to its data folder, or set AEX_OPERATOR_TOKEN.',
    )
  }
}

function usable(text: string, source: string): string {
  const token = text.trim()
  if (/^[\x21-\x7e]{1,256}$/.test(token)) return token
  throw new CommandFailure(`The content of ${source} is not an operator token.`)
}
