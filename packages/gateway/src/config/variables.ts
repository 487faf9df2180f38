import { TRACING_VARIABLES } from '@agent-exchange/server/settings'

/** One environment variable of the gateway. */
interface Variable {
  readonly name: string
  readonly meaning: string
  readonly default: string
}

/** Every variable that the gateway reads, in the order of docs/gateway.md. */
export const VARIABLES = [
  { name: 'AEX_GATEWAY_HOST', meaning: 'address of all listeners', default: '127.0.0.1' },
  { name: 'AEX_GATEWAY_PORT', meaning: 'port of API, desk and MCP', default: '8090' },
  { name: 'AEX_GATEWAY_ADMIN_PORT', meaning: 'port of health and metrics', default: '8091' },
  { name: 'AEX_GATEWAY_WEBHOOK_PORT', meaning: 'port of the webhook receiver', default: '8092' },
  {
    name: 'AEX_GATEWAY_WEBHOOK_URL',
    meaning: 'base URL under which the exchange reaches the webhook receiver',
    default: 'no webhooks: the gateway polls',
  },
  {
    name: 'AEX_GATEWAY_PUBLIC_URL',
    meaning: 'base URL of API and desk',
    default: 'from host, port and TLS',
  },
  {
    name: 'AEX_GATEWAY_DATA_DIR',
    meaning: 'directory of the embedded database and the generated master key',
    default: './gateway',
  },
  {
    name: 'AEX_GATEWAY_DATABASE_URL',
    meaning: 'PostgreSQL 15 or later, as postgres://user:password@host/database',
    default: 'the embedded database',
  },
  {
    name: 'AEX_GATEWAY_DATABASE_DIRECT_URL',
    meaning: 'the same database without a pooler, for LISTEN, session locks and migrations',
    default: 'as AEX_GATEWAY_DATABASE_URL',
  },
  {
    name: 'AEX_GATEWAY_MASTER_KEY',
    meaning: '32 bytes that encrypt keys, content and drafts, as base64url or hex',
    default: 'generated in AEX_GATEWAY_DATA_DIR',
  },
  {
    name: 'AEX_GATEWAY_MASTER_KEY_PREVIOUS',
    meaning: 'the former master key, during its rotation',
    default: 'none',
  },
  { name: 'AEX_GATEWAY_MASTER_KEY_FILE', meaning: 'file with the master key', default: 'none' },
  {
    name: 'AEX_GATEWAY_TLS_CERT',
    meaning: 'certificate chain of all listeners (PEM file)',
    default: 'no TLS',
  },
  {
    name: 'AEX_GATEWAY_TLS_KEY',
    meaning: 'private key of AEX_GATEWAY_TLS_CERT (PEM file)',
    default: 'no TLS',
  },
  {
    name: 'AEX_GATEWAY_TRUSTED_PROXIES',
    meaning:
      'addresses and networks of proxies that end TLS, separated by commas; without AEX_GATEWAY_TLS_CERT nobody else is answered',
    default: 'none',
  },
  {
    name: 'AEX_GATEWAY_TOKEN_ISSUER',
    meaning: 'identity provider of the company whose access tokens the API accepts',
    default: 'API keys only',
  },
  {
    name: 'AEX_GATEWAY_TOKEN_AUDIENCE',
    meaning: 'audience of access tokens for the API',
    default: 'none',
  },
  {
    name: 'AEX_GATEWAY_MCP_AUDIENCE',
    meaning: 'audience of access tokens for language models, usually the public URL with /mcp',
    default: 'no MCP server',
  },
  {
    name: 'AEX_GATEWAY_OIDC_ISSUER',
    meaning: 'OpenID Connect issuer that signs people in to the desk',
    default: 'people are invited (aex gateway person add)',
  },
  {
    name: 'AEX_GATEWAY_OIDC_CLIENT_ID',
    meaning: 'client of the desk at AEX_GATEWAY_OIDC_ISSUER; its redirect URI ends in /sign-in/oidc/callback',
    default: 'none',
  },
  {
    name: 'AEX_GATEWAY_OIDC_CLIENT_SECRET_FILE',
    meaning: 'file with the secret of that client',
    default: 'a public client (PKCE only)',
  },
  {
    name: 'AEX_GATEWAY_OIDC_ROLES',
    meaning:
      'roles by group, as CLAIM:GROUP=ROLE,… such as groups:planning=planner,leads=approver,audit=auditor',
    default: 'none',
  },
  {
    name: 'AEX_GATEWAY_PUSH_HOSTS',
    meaning:
      'hosts that items may be pushed to, separated by commas, each with its port where that is not the usual one',
    default: 'nothing is pushed',
  },
  {
    name: 'AEX_PKCS11_MODULE',
    meaning: 'library of a PKCS#11 module that makes and holds the keys of agents',
    default: 'keys are in the database, encrypted',
  },
  { name: 'AEX_PKCS11_TOKEN', meaning: 'label of its token', default: 'none' },
  { name: 'AEX_PKCS11_PIN_FILE', meaning: 'file with the PIN of the token', default: 'none' },
  {
    name: 'AEX_GATEWAY_LOG_LEVEL',
    meaning: 'trace, debug, info, warn, error, fatal or silent',
    default: 'info',
  },
  {
    name: 'AEX_GATEWAY_SMTP_URL',
    meaning: 'mail server for alerts, as smtps://user:password@host:465 or smtp://host:25',
    default: 'no mail',
  },
  { name: 'AEX_GATEWAY_ALERT_FROM', meaning: 'sender address of alerts', default: 'no mail' },
  {
    name: 'AEX_GATEWAY_ALERT_TO',
    meaning: 'who gets alerts: mail addresses, separated by commas',
    default: 'no mail',
  },
  ...TRACING_VARIABLES,
  {
    name: 'OTEL_SERVICE_NAME',
    meaning: 'name of this service in traces',
    default: 'agent-exchange-gateway',
  },
] as const satisfies readonly Variable[]

export type VariableName = (typeof VARIABLES)[number]['name']

export function defaultOf(name: VariableName): string {
  return VARIABLES.find((variable) => variable.name === name)?.default ?? ''
}
