import {
  parseMailbox,
  parseSmtpUrl,
  SettingError,
  type SettingsReader,
} from '@agent-exchange/server/settings'
import type { VariableName } from './variables.ts'

const MAXIMUM_RECIPIENTS = 20
const NAMES = ['AEX_GATEWAY_SMTP_URL', 'AEX_GATEWAY_ALERT_FROM', 'AEX_GATEWAY_ALERT_TO'] as const

export interface MailConfig {
  readonly url: string
  readonly from: string
  readonly recipients: readonly string[]
}

/** All three settings, or none. */
export function readMail({ checked, value, reject }: SettingsReader<VariableName>): MailConfig | undefined {
  const url = checked('AEX_GATEWAY_SMTP_URL', parseSmtpUrl)
  const from = checked('AEX_GATEWAY_ALERT_FROM', parseMailbox)
  const recipients = checked('AEX_GATEWAY_ALERT_TO', parseRecipients)
  const unset = NAMES.filter((name) => value(name) === undefined)
  if (unset.length > 0 && unset.length < NAMES.length)
    for (const name of unset) reject(name, `Mail needs ${NAMES.join(', ')}: set all of them, or none.`)
  return url === undefined || from === undefined || recipients === undefined
    ? undefined
    : { url, from, recipients }
}

function parseRecipients(text: string): readonly string[] {
  const addresses = text.split(',').map((address) => address.trim())
  if (addresses.length > MAXIMUM_RECIPIENTS)
    throw new SettingError(`Use at most ${MAXIMUM_RECIPIENTS} addresses.`)
  if (addresses.some((address) => !/^[^<>\s@]+@[^<>\s@]+$/u.test(address)))
    throw new SettingError('Use mail addresses such as ops@company.example, separated by commas.')
  return addresses
}
