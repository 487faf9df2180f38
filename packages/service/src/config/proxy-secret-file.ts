import { readNamedFile, SettingError } from '@agent-exchange/server/settings'
import type { ServiceSettings } from './service-settings.ts'

/** Visible ASCII, as a header value has it. */
const SECRET = /^[\x21-\x7e]{32,512}$/u

/** Valid combinations: proxies alone, or proxies and the secret that they send. */
export function readProxySecret({ checked, value, reject }: ServiceSettings): string | undefined {
  const secret = checked('AEX_PROXY_SECRET_FILE', (path) => {
    const text = readNamedFile(path).trim()
    if (!SECRET.test(text))
      throw new SettingError(
        `The file ${path} holds no usable secret. Use one line of 32 to 512 visible ASCII characters, ` +
          'for example from `openssl rand -hex 32`.',
      )
    return text
  })
  if (value('AEX_PROXY_SECRET_FILE') && !value('AEX_TRUSTED_PROXIES'))
    reject('AEX_TRUSTED_PROXIES', 'Name the proxies that send the secret, or unset AEX_PROXY_SECRET_FILE.')
  return secret
}
