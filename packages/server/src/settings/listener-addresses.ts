import { BlockList, isIP, isIPv6 } from 'node:net'
import { SettingError } from './settings-reader.ts'

const LARGEST_PORT = 65_535
const HOST_NAME = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/iu
const WILDCARDS = new Set(['0.0.0.0', '::'])

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** True for loopback addresses and localhost. Any other name may resolve to a public address. */
export function isLoopback(host: string): boolean {
  if (isIP(host) === 0) return host.toLowerCase() === 'localhost'
  return loopback.check(host, isIPv6(host) ? 'ipv6' : 'ipv4')
}

/** The host of a URL as an address or a name: without the brackets of IPv6. */
export const hostOf = ({ hostname }: URL) => hostname.replace(/^\[|\]$/gu, '')

export function parseHost(text: string): string {
  if (isIP(text) === 0 && !HOST_NAME.test(text)) {
    throw new SettingError(
      'Use an IP address or a host name, such as 127.0.0.1 or localhost, without a port.',
    )
  }
  return text
}

export function parsePort(text: string): number {
  const port = /^\d{1,5}$/u.test(text) ? Number(text) : 0
  if (port < 1 || port > LARGEST_PORT) throw new SettingError(`Use a port number from 1 to ${LARGEST_PORT}.`)
  return port
}

/** Parses a comma-separated list of addresses and CIDR networks. */
export function parseProxies(text: string): string[] {
  const entries = text.split(',').map((entry) => entry.trim())
  for (const entry of entries) {
    const [address = '', prefix, ...rest] = entry.split('/')
    const longest = isIP(address) === 6 ? 128 : 32
    const isNetwork = prefix === undefined || (/^\d{1,3}$/u.test(prefix) && Number(prefix) <= longest)
    if (isIP(address) === 0 || !isNetwork || rest.length > 0) {
      throw new SettingError(
        `"${entry}" is neither an address nor a network: use a list such as 10.0.0.5, 192.168.0.0/24.`,
      )
    }
  }
  return entries
}

/** The one address to listen at: a server has one, and `localhost` can stand for two. */
export const listenAddress = (host: string) => (host.toLowerCase() === 'localhost' ? '127.0.0.1' : host)

/** The URL under which this machine reaches a listener. */
export function listenerUrl(host: string, port: number, secure: boolean): string {
  const name = WILDCARDS.has(host) ? 'localhost' : isIPv6(host) ? `[${host}]` : host
  const defaultPort = secure ? 443 : 80
  return `${secure ? 'https' : 'http'}://${name}${port === defaultPort ? '' : `:${port}`}`
}
