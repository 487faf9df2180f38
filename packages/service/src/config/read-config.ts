import { resolve } from 'node:path'
import { DEFAULT_PROFILE } from '@agent-exchange/protocol'
import { addressOf, isLoopback, parseHost, parsePort, parseProxies } from './addresses.ts'
import { ConfigError } from './config-error.ts'
import { LOG_LEVELS, ROLES, type Config, type SmtpConfig } from './config.ts'
import { parseMasterKey } from './master-key-text.ts'
import { readCertificates, readTls } from './pem-files.ts'
import { readProfile } from './profile-file.ts'
import { Refusal, settingsReader, type SettingsReader } from './settings-reader.ts'
import { parseDatabaseUrl, parseIssuer, parseMailbox, parsePublicUrl, parseSmtpUrl } from './urls.ts'
import { defaultOf, type Environment } from './variables.ts'

/** More processes than any one machine should give to one service; beyond it, run replicas. */
const MAXIMUM_WORKERS = 64

/**
 * The environment as one checked object. Files that variables name are read here, once.
 *
 * @throws {ConfigError} that lists every wrong setting
 */
export function readConfig(env: Environment): Config {
  const settings = settingsReader(env)
  const { checked, value } = settings
  const host = checked('AEX_HOST', parseHost) ?? defaultOf('AEX_HOST')
  const port = checked('AEX_PORT', parsePort) ?? Number(defaultOf('AEX_PORT'))
  const operatorHost = checked('AEX_OPERATOR_HOST', parseHost) ?? defaultOf('AEX_OPERATOR_HOST')
  const operatorPort = checked('AEX_OPERATOR_PORT', parsePort) ?? Number(defaultOf('AEX_OPERATOR_PORT'))
  const tls = readTls(settings)
  const usesTls = value('AEX_TLS_CERT') !== undefined
  const config: Config = {
    host,
    port,
    operatorHost,
    operatorPort,
    publicUrl:
      checked('AEX_PUBLIC_URL', (text) => parsePublicUrl(text, usesTls)) ?? addressOf(host, port, usesTls),
    dataDirectory: resolve(value('AEX_DATA_DIR') ?? defaultOf('AEX_DATA_DIR')),
    databaseUrl: checked('DATABASE_URL', parseDatabaseUrl),
    tls,
    trustedProxies: checked('AEX_TRUSTED_PROXIES', parseProxies) ?? [],
    issuer: checked('AEX_ISSUER', parseIssuer),
    profile: checked('AEX_PROFILE', readProfile) ?? DEFAULT_PROFILE,
    webhook: {
      ca: checked('AEX_WEBHOOK_CA', readCertificates),
      allowPrivate: checked('AEX_WEBHOOK_ALLOW_PRIVATE', parseFlag) ?? false,
    },
    role: checked('AEX_ROLE', oneOf(ROLES)) ?? 'all',
    workers: checked('AEX_WORKERS', parseWorkers) ?? 1,
    masterKey: checked('AEX_MASTER_KEY', parseMasterKey),
    smtp: readSmtp(settings),
    logLevel: checked('AEX_LOG_LEVEL', oneOf(LOG_LEVELS)) ?? 'info',
  }
  refuseOpenListeners(config, settings)
  refuseSharedListener(config, settings)
  if (value('DATABASE_URL') && !value('AEX_MASTER_KEY')) {
    settings.refuse(
      'AEX_MASTER_KEY',
      'Set it, as DATABASE_URL is set: every replica needs the same 32 bytes, as base64url or hex.',
    )
  }
  if (settings.wrong.length > 0) throw new ConfigError(settings.wrong)
  return config
}

/**
 * Tokens and packages' metadata never cross a network in the clear. A proxy that ends TLS is one for the agent API
 * only: an operator's token goes over TLS or stays on this machine.
 */
function refuseOpenListeners({ host, operatorHost }: Config, { value, refuse }: SettingsReader): void {
  if (value('AEX_TLS_CERT') || value('AEX_TLS_KEY')) return
  if (!isLoopback(host) && !value('AEX_TRUSTED_PROXIES')) {
    refuse(
      'AEX_HOST',
      'Listening beyond this machine needs TLS: set AEX_TLS_CERT and AEX_TLS_KEY, or name the proxy that ' +
        'ends TLS in AEX_TRUSTED_PROXIES, or use 127.0.0.1.',
    )
  }
  if (!isLoopback(operatorHost)) {
    refuse(
      'AEX_OPERATOR_HOST',
      'Listening beyond this machine needs TLS: set AEX_TLS_CERT and AEX_TLS_KEY, or use 127.0.0.1. ' +
        'A proxy in AEX_TRUSTED_PROXIES is for the agent API only.',
    )
  }
}

function refuseSharedListener(
  { host, port, operatorHost, operatorPort }: Config,
  { refuse }: SettingsReader,
): void {
  const wildcard = [host, operatorHost].some((address) => address === '0.0.0.0' || address === '::')
  if (port === operatorPort && (host === operatorHost || wildcard)) {
    refuse('AEX_OPERATOR_PORT', 'Use another port than AEX_PORT: the operator API has a listener of its own.')
  }
}

function readSmtp({ checked, value, refuse }: SettingsReader): SmtpConfig | undefined {
  const url = checked('AEX_SMTP_URL', parseSmtpUrl)
  const from = checked('AEX_ALERT_FROM', parseMailbox)
  if (value('AEX_SMTP_URL') && !value('AEX_ALERT_FROM')) {
    refuse('AEX_ALERT_FROM', 'Set it to the sender of alert mail, or unset AEX_SMTP_URL.')
  }
  if (value('AEX_ALERT_FROM') && !value('AEX_SMTP_URL')) {
    refuse('AEX_SMTP_URL', 'Set it to the mail server, or unset AEX_ALERT_FROM.')
  }
  return url === undefined || from === undefined ? undefined : { url, from }
}

function parseFlag(text: string): boolean {
  if (text === 'true' || text === '1') return true
  if (text === 'false' || text === '0') return false
  throw new Refusal('Use true or false.')
}

function oneOf<Value extends string>(values: readonly Value[]): (text: string) => Value {
  return (text) => {
    const value = values.find((each) => each === text)
    if (value === undefined) throw new Refusal(`Use one of ${values.join(', ')}.`)
    return value
  }
}

function parseWorkers(text: string): number {
  const workers = /^\d{1,3}$/u.test(text) ? Number(text) : 0
  if (workers < 1 || workers > MAXIMUM_WORKERS) {
    throw new Refusal(`Use a number of processes from 1 to ${MAXIMUM_WORKERS}.`)
  }
  return workers
}
