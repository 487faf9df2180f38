import { resolve } from 'node:path'
import { DEFAULT_PROFILE } from '@agent-exchange/protocol'
import {
  ConfigError,
  isLoopback,
  listenerUrl,
  LOG_LEVELS,
  oneOf,
  parseConsoleUrl,
  parseDatabaseUrl,
  parseFlag,
  parseHost,
  parseIssuer,
  parseMailbox,
  parsePort,
  parseProxies,
  parsePublicUrl,
  parseSmtpUrl,
  readCertificates,
  readKeyModule,
  readMasterKeys,
  readTracing,
  SettingError,
  type Environment,
} from '@agent-exchange/server/settings'
import { ROLES, type Config, type SmtpConfig } from './config.ts'
import { readOperatorSignOn } from './operator-sign-on.ts'
import { readForwardedClientCa, readTls } from './pem-files.ts'
import { readProfile } from './profile-file.ts'
import { readProxySecret } from './proxy-secret-file.ts'
import { serviceSettings, type ServiceSettings } from './service-settings.ts'
import { defaultOf } from './variables.ts'
import { readWitnessPolicy } from './witness-policy.ts'

/** Processes on one machine. For more, run replicas. */
const MAXIMUM_WORKERS = 64

const MASTER_KEY = {
  key: 'AEX_MASTER_KEY',
  previous: 'AEX_MASTER_KEY_PREVIOUS',
  file: 'AEX_MASTER_KEY_FILE',
  databaseUrl: 'DATABASE_URL',
} as const

/**
 * Reads and validates the environment, including the files that variables name.
 *
 * @throws {ConfigError} with every invalid setting
 */
export function readConfig(env: Environment): Config {
  const settings = serviceSettings(env)
  const { checked, value } = settings
  const host = checked('AEX_HOST', parseHost) ?? defaultOf('AEX_HOST')
  const port = checked('AEX_PORT', parsePort) ?? Number(defaultOf('AEX_PORT'))
  const operatorHost = checked('AEX_OPERATOR_HOST', parseHost) ?? defaultOf('AEX_OPERATOR_HOST')
  const operatorPort = checked('AEX_OPERATOR_PORT', parsePort) ?? Number(defaultOf('AEX_OPERATOR_PORT'))
  const tls = readTls(settings)
  const forwardedClientCa = readForwardedClientCa(settings)
  const proxySecret = readProxySecret(settings)
  const keyModule = readKeyModule(settings)
  const usesTls = value('AEX_TLS_CERT') !== undefined
  const webhookCa = value('AEX_WEBHOOK_CA')
  const config: Config = {
    host,
    port,
    operatorHost,
    operatorPort,
    operatorPublicUrl: checked('AEX_OPERATOR_PUBLIC_URL', (text) => parseConsoleUrl(text, usesTls)),
    operatorSignOn: readOperatorSignOn(settings),
    publicUrl:
      checked('AEX_PUBLIC_URL', (text) => parsePublicUrl(text, usesTls)) ?? listenerUrl(host, port, usesTls),
    dataDirectory: resolve(value('AEX_DATA_DIR') ?? defaultOf('AEX_DATA_DIR')),
    databaseUrl: checked('DATABASE_URL', parseDatabaseUrl),
    databaseReadUrl: checked('AEX_DATABASE_READ_URL', parseDatabaseUrl),
    databaseDirectUrl: checked('AEX_DATABASE_DIRECT_URL', parseDatabaseUrl),
    tls,
    ...(forwardedClientCa && { forwardedClientCa }),
    trustedProxies: checked('AEX_TRUSTED_PROXIES', parseProxies) ?? [],
    ...(proxySecret !== undefined && { proxySecret }),
    issuer: checked('AEX_ISSUER', parseIssuer),
    profile: checked('AEX_PROFILE', readProfile) ?? DEFAULT_PROFILE,
    webhook: {
      ca: checked('AEX_WEBHOOK_CA', readCertificates),
      ...(webhookCa !== undefined && { caFile: resolve(webhookCa) }),
      allowPrivate: checked('AEX_WEBHOOK_ALLOW_PRIVATE', parseFlag) ?? false,
    },
    role: checked('AEX_ROLE', oneOf(ROLES)) ?? 'all',
    workers: checked('AEX_WORKERS', parseWorkers) ?? 1,
    createsFirstOperator: checked('AEX_FIRST_OPERATOR', parseFlag) ?? true,
    ...readMasterKeys(settings, MASTER_KEY),
    ...(keyModule && { keyModule }),
    smtp: readSmtp(settings),
    logLevel: checked('AEX_LOG_LEVEL', oneOf(LOG_LEVELS)) ?? 'info',
    witnesses: checked('AEX_WITNESS_POLICY', readWitnessPolicy) ?? [],
    tracing: readTracing(settings, 'agent-exchange'),
  }
  rejectOpenListeners(config, settings)
  rejectSharedListener(config, settings)
  rejectUselessDirectUrl(config, settings)
  if (value('AEX_DATABASE_READ_URL') && !value('DATABASE_URL')) {
    settings.reject(
      'AEX_DATABASE_READ_URL',
      'Set DATABASE_URL to the primary of this replica: the embedded database has none.',
    )
  }
  if (settings.wrong.length > 0) throw new ConfigError(settings.wrong)
  return config
}

/**
 * Tokens and package metadata never cross a network unencrypted. A TLS-terminating proxy serves the agent API only: an
 * operator's token is sent over TLS or stays on this machine.
 */
function rejectOpenListeners({ host, operatorHost }: Config, { value, reject }: ServiceSettings): void {
  if (value('AEX_TLS_CERT') || value('AEX_TLS_KEY')) return
  if (!isLoopback(host) && !value('AEX_TRUSTED_PROXIES')) {
    reject(
      'AEX_HOST',
      'Listening beyond this machine needs TLS: set AEX_TLS_CERT and AEX_TLS_KEY, or name the ' +
        'TLS-terminating proxy in AEX_TRUSTED_PROXIES, or use 127.0.0.1.',
    )
  }
  if (!isLoopback(operatorHost)) {
    reject(
      'AEX_OPERATOR_HOST',
      'Listening beyond this machine needs TLS: set AEX_TLS_CERT and AEX_TLS_KEY, or use 127.0.0.1. ' +
        'AEX_TRUSTED_PROXIES is for the agent API only.',
    )
  }
}

function rejectSharedListener(
  { host, port, operatorHost, operatorPort }: Config,
  { reject }: ServiceSettings,
): void {
  const wildcard = [host, operatorHost].some((address) => address === '0.0.0.0' || address === '::')
  if (port === operatorPort && (host === operatorHost || wildcard)) {
    reject('AEX_OPERATOR_PORT', 'Use another port than AEX_PORT: the operator API has its own listener.')
  }
}

/** The direct address is for a pooler in DATABASE_URL, so it differs from it. */
function rejectUselessDirectUrl(
  { databaseUrl, databaseDirectUrl }: Config,
  { value, reject }: ServiceSettings,
): void {
  if (databaseDirectUrl === undefined) return
  if (value('DATABASE_URL') === undefined)
    reject('AEX_DATABASE_DIRECT_URL', 'Set DATABASE_URL to the pooler, or unset this.')
  else if (databaseUrl === databaseDirectUrl)
    reject(
      'AEX_DATABASE_DIRECT_URL',
      'It equals DATABASE_URL. Unset it, or let DATABASE_URL lead to a pooler: named statements are off where both are set.',
    )
}

function readSmtp({ checked, value, reject }: ServiceSettings): SmtpConfig | undefined {
  const url = checked('AEX_SMTP_URL', parseSmtpUrl)
  const from = checked('AEX_ALERT_FROM', parseMailbox)
  if (value('AEX_SMTP_URL') && !value('AEX_ALERT_FROM')) {
    reject('AEX_ALERT_FROM', 'Set it to the sender of alert mail, or unset AEX_SMTP_URL.')
  }
  if (value('AEX_ALERT_FROM') && !value('AEX_SMTP_URL')) {
    reject('AEX_SMTP_URL', 'Set it to the mail server, or unset AEX_ALERT_FROM.')
  }
  return url === undefined || from === undefined ? undefined : { url, from }
}

function parseWorkers(text: string): number {
  const workers = /^\d{1,3}$/u.test(text) ? Number(text) : 0
  if (workers < 1 || workers > MAXIMUM_WORKERS) {
    throw new SettingError(`Use a number of processes from 1 to ${MAXIMUM_WORKERS}.`)
  }
  return workers
}
