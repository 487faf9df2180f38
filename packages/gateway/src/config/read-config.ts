import { resolve } from 'node:path'
import {
  ConfigError,
  isLoopback,
  listenerUrl,
  LOG_LEVELS,
  oneOf,
  parseDatabaseUrl,
  parseGatewayUrl,
  parseHost,
  parseIssuer,
  parsePort,
  parseProxies,
  parsePublicUrl,
  readKeyModule,
  readKeyPair,
  readMasterKeys,
  readTracing,
  settingsReader,
  withMasterKey,
  type Environment,
  type KeyModuleConfig,
  type LogLevel,
  type MasterKeySettings,
  type SettingsReader,
  type TlsConfig,
  type TracingConfig,
} from '@agent-exchange/server/settings'
import { readMail, type MailConfig } from './mail.ts'
import type { SignOnConfig } from '@agent-exchange/server/sign-on'
import type { DeskRole } from '@agent-exchange/desk'
import { readDeskSignOn } from './desk-sign-on.ts'
import { readPushHosts } from './push-hosts.ts'
import { defaultOf, type VariableName } from './variables.ts'

/** The complete, validated configuration of a gateway. No other code of it reads the environment. */
export interface GatewayConfig extends MasterKeySettings {
  readonly host: string
  readonly port: number
  readonly adminPort: number
  readonly webhookPort: number
  /** Undefined: the gateway polls. */
  readonly webhookUrl: string | undefined
  readonly publicUrl: string
  /** An absolute path. */
  readonly dataDirectory: string
  /** Undefined: the embedded database. */
  readonly databaseUrl: string | undefined
  readonly databaseDirectUrl: string | undefined
  readonly tls: Omit<TlsConfig, 'clientCa'> | undefined
  /** Proxies that end TLS. Without `tls`, nobody else reaches API, desk and webhook receiver. */
  readonly trustedProxies: readonly string[]
  /** The company's identity provider. Undefined: the API accepts API keys only. */
  readonly tokens: { readonly issuer: string; readonly audience: string } | undefined
  /** Whose tokens the MCP server accepts. Undefined: there is none. */
  readonly mcp: { readonly issuer: string; readonly audience: string } | undefined
  /** Sign-in of people. Undefined: they are invited by links. */
  readonly signOn: SignOnConfig<DeskRole> | undefined
  /** Hosts that items may be pushed to. Empty: nothing is pushed. */
  readonly pushHosts: ReadonlySet<string>
  /** Undefined: keys of agents are in the database. */
  readonly keyModule: KeyModuleConfig | undefined
  /** Undefined: no mail is sent. */
  readonly mail: MailConfig | undefined
  /** Undefined: no spans are recorded. */
  readonly tracing: TracingConfig | undefined
  readonly logLevel: LogLevel
}

/** @throws {ConfigError} with every invalid setting */
export function readGatewayConfig(env: Environment): GatewayConfig {
  const settings = settingsReader<VariableName>(env)
  const { checked, value, reject } = settings
  const port = (name: VariableName) => checked(name, parsePort) ?? Number(defaultOf(name))
  const host = checked('AEX_GATEWAY_HOST', parseHost) ?? defaultOf('AEX_GATEWAY_HOST')
  const tls = readKeyPair(settings, { certificate: 'AEX_GATEWAY_TLS_CERT', key: 'AEX_GATEWAY_TLS_KEY' })
  const usesTls = value('AEX_GATEWAY_TLS_CERT') !== undefined
  const apiPort = port('AEX_GATEWAY_PORT')
  const config: GatewayConfig = {
    host,
    port: apiPort,
    adminPort: port('AEX_GATEWAY_ADMIN_PORT'),
    webhookPort: port('AEX_GATEWAY_WEBHOOK_PORT'),
    webhookUrl: checked('AEX_GATEWAY_WEBHOOK_URL', (text) => parsePublicUrl(text, usesTls)),
    publicUrl:
      checked('AEX_GATEWAY_PUBLIC_URL', (text) => parseGatewayUrl(text, usesTls)) ??
      listenerUrl(host, apiPort, usesTls),
    dataDirectory: resolve(value('AEX_GATEWAY_DATA_DIR') ?? defaultOf('AEX_GATEWAY_DATA_DIR')),
    databaseUrl: checked('AEX_GATEWAY_DATABASE_URL', parseDatabaseUrl),
    databaseDirectUrl: checked('AEX_GATEWAY_DATABASE_DIRECT_URL', parseDatabaseUrl),
    tls,
    trustedProxies: checked('AEX_GATEWAY_TRUSTED_PROXIES', parseProxies) ?? [],
    ...readMasterKeys(settings, {
      key: 'AEX_GATEWAY_MASTER_KEY',
      previous: 'AEX_GATEWAY_MASTER_KEY_PREVIOUS',
      file: 'AEX_GATEWAY_MASTER_KEY_FILE',
      databaseUrl: 'AEX_GATEWAY_DATABASE_URL',
    }),
    ...readTokens(settings),
    signOn: readDeskSignOn(settings),
    pushHosts: checked('AEX_GATEWAY_PUSH_HOSTS', readPushHosts) ?? new Set(),
    keyModule: readKeyModule(settings),
    mail: readMail(settings),
    tracing: readTracing(settings, defaultOf('OTEL_SERVICE_NAME')),
    logLevel: checked('AEX_GATEWAY_LOG_LEVEL', oneOf(LOG_LEVELS)) ?? 'info',
  }
  const hasProxies = value('AEX_GATEWAY_TRUSTED_PROXIES') !== undefined
  if (!isLoopback(host) && !usesTls && !hasProxies)
    reject(
      'AEX_GATEWAY_HOST',
      'Listening beyond this machine needs TLS: set AEX_GATEWAY_TLS_CERT and AEX_GATEWAY_TLS_KEY, or name the ' +
        'TLS-terminating proxy in AEX_GATEWAY_TRUSTED_PROXIES, or use 127.0.0.1.',
    )
  if (hasProxies && value('AEX_GATEWAY_PUBLIC_URL') === undefined)
    reject(
      'AEX_GATEWAY_PUBLIC_URL',
      'Set it to the address of the proxy, such as https://gateway.company.example.',
    )
  if (new Set([config.port, config.adminPort, config.webhookPort]).size < 3)
    reject('AEX_GATEWAY_PORT', 'Use three different ports for API, administration and webhooks.')
  const ownHosts = [config.publicUrl, config.webhookUrl].flatMap((url) =>
    url === undefined ? [] : [new URL(url).host],
  )
  if (ownHosts.some((own) => config.pushHosts.has(own)))
    reject(
      'AEX_GATEWAY_PUSH_HOSTS',
      'The gateway does not push to itself: leave out the hosts of AEX_GATEWAY_PUBLIC_URL and AEX_GATEWAY_WEBHOOK_URL.',
    )
  if (value('AEX_GATEWAY_DATABASE_DIRECT_URL') && !value('AEX_GATEWAY_DATABASE_URL'))
    reject('AEX_GATEWAY_DATABASE_DIRECT_URL', 'Set AEX_GATEWAY_DATABASE_URL to the pooler, or unset this.')
  if (settings.wrong.length > 0) throw new ConfigError(settings.wrong)
  return config
}

/** Reads or generates the master key. Call it before the embedded database starts. */
export const withGatewayMasterKey = (config: GatewayConfig) => withMasterKey(config, 'AEX_GATEWAY_MASTER_KEY')

/** Without an audience, tokens for other programs of the company would be accepted. */
function readTokens({
  checked,
  value,
  reject,
}: SettingsReader<VariableName>): Pick<GatewayConfig, 'tokens' | 'mcp'> {
  const issuer = checked('AEX_GATEWAY_TOKEN_ISSUER', parseIssuer)
  const audience = value('AEX_GATEWAY_TOKEN_AUDIENCE')
  const mcpAudience = value('AEX_GATEWAY_MCP_AUDIENCE')
  const isIssuerSet = value('AEX_GATEWAY_TOKEN_ISSUER') !== undefined
  if (isIssuerSet && audience === undefined && mcpAudience === undefined)
    reject(
      'AEX_GATEWAY_TOKEN_AUDIENCE',
      'Set it, AEX_GATEWAY_MCP_AUDIENCE, or both, together with AEX_GATEWAY_TOKEN_ISSUER.',
    )
  if (!isIssuerSet && audience !== undefined)
    reject('AEX_GATEWAY_TOKEN_ISSUER', 'Set it together with AEX_GATEWAY_TOKEN_AUDIENCE.')
  if (!isIssuerSet && mcpAudience !== undefined)
    reject('AEX_GATEWAY_TOKEN_ISSUER', 'Set it together with AEX_GATEWAY_MCP_AUDIENCE.')
  if (mcpAudience !== undefined && mcpAudience === audience)
    reject(
      'AEX_GATEWAY_MCP_AUDIENCE',
      'Use another audience than that of the API, so that a token of a model is not one of a system.',
    )
  const of = (named: string | undefined) =>
    issuer === undefined || named === undefined ? undefined : { issuer, audience: named }
  return { tokens: of(audience), mcp: of(mcpAudience) }
}
