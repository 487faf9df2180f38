import { hidePassword } from '@agent-exchange/server/settings'
import type { Config } from './config.ts'
import type { VariableName } from './variables.ts'

/** The running configuration as text, without secrets. `aex config` shows the environment instead. */
export function showConfig(config: Config): { readonly name: VariableName; readonly value: string }[] {
  const { tls, webhook, smtp, witnesses, trustedProxies } = config
  const values = {
    AEX_HOST: config.host,
    AEX_PORT: String(config.port),
    AEX_PUBLIC_URL: config.publicUrl,
    AEX_OPERATOR_HOST: config.operatorHost,
    AEX_OPERATOR_PORT: String(config.operatorPort),
    AEX_OPERATOR_PUBLIC_URL: config.operatorPublicUrl ?? 'from host, port and TLS',
    AEX_OPERATOR_OIDC_ISSUER: config.operatorSignOn?.issuer ?? 'sign-in with operator tokens only',
    AEX_DATA_DIR: config.dataDirectory,
    DATABASE_URL:
      config.databaseUrl === undefined ? 'the embedded database' : hidePassword(config.databaseUrl),
    AEX_DATABASE_READ_URL:
      config.databaseReadUrl === undefined ? 'no replica' : hidePassword(config.databaseReadUrl),
    AEX_DATABASE_DIRECT_URL:
      config.databaseDirectUrl === undefined ? 'as DATABASE_URL' : hidePassword(config.databaseDirectUrl),
    AEX_TLS_CERT: tls ? 'set' : 'no TLS',
    AEX_TLS_CLIENT_CA:
      (tls?.clientCa ?? config.forwardedClientCa?.ca) === undefined ? 'no client certificates' : 'set',
    AEX_TRUSTED_PROXIES: trustedProxies.join(', ') || 'none',
    AEX_PROXY_SECRET_FILE: config.proxySecret === undefined ? 'none' : 'set',
    AEX_ISSUER: config.issuer ?? 'the embedded authorization server',
    AEX_WEBHOOK_CA: webhook.ca === undefined ? "Node's own" : 'set',
    AEX_WEBHOOK_ALLOW_PRIVATE: String(webhook.allowPrivate),
    AEX_ROLE: config.role,
    AEX_WORKERS: String(config.workers),
    AEX_FIRST_OPERATOR: String(config.createsFirstOperator),
    AEX_MASTER_KEY_FILE: config.masterKeyFile ?? 'none',
    AEX_MASTER_KEY_PREVIOUS: config.previousMasterKey ? 'set' : 'none',
    AEX_PKCS11_MODULE: config.keyModule?.module ?? 'keys in the database, under the master key',
    AEX_PKCS11_TOKEN: config.keyModule?.token ?? 'none',
    AEX_SMTP_URL: smtp ? hidePassword(smtp.url) : 'no mail',
    AEX_ALERT_FROM: smtp?.from ?? 'no mail',
    AEX_LOG_LEVEL: config.logLevel,
    AEX_WITNESS_POLICY: witnesses.map(({ name }) => name).join(', ') || 'no witnesses',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: config.tracing?.url ?? 'none',
  } satisfies Partial<Record<VariableName, string>>
  return Object.entries(values).map(([name, value]) => ({ name: name as VariableName, value }))
}
