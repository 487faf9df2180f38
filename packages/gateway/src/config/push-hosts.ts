import { SettingError } from '@agent-exchange/server/settings'

const MAXIMUM_HOSTS = 100

/** The hosts as `URL.host` writes them, so that they can be compared with the host of an endpoint. */
export function readPushHosts(text: string): ReadonlySet<string> {
  const names = text.split(',').map((name) => name.trim())
  if (names.length > MAXIMUM_HOSTS) throw new SettingError(`Use at most ${MAXIMUM_HOSTS} hosts.`)
  return new Set(names.map(hostOf))
}

function hostOf(name: string): string {
  const url = `https://${name}`
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (!parsed || parsed.host !== name.toLowerCase().replace(/:443$/u, ''))
    throw new SettingError(`${name} is not a host. Use for example erp.company.example or 10.0.0.5:8443.`)
  return parsed.host
}
