import { TRACING_VARIABLES } from '@agent-exchange/server/settings'

/** One environment variable, as `aex config` shows it. */
export interface Variable {
  readonly name: string
  readonly meaning: string
  /** The default, or its description where it is not a fixed value. */
  readonly default: string
  /** The value is never shown. */
  readonly secret?: true
}

/** Every variable that the service reads, in the order of the operations guide. */
export const VARIABLES = [
  { name: 'AEX_HOST', meaning: 'address of the agent API', default: '127.0.0.1' },
  { name: 'AEX_PORT', meaning: 'port of the agent API', default: '8080' },
  { name: 'AEX_OPERATOR_HOST', meaning: 'address of the operator API', default: '127.0.0.1' },
  { name: 'AEX_OPERATOR_PORT', meaning: 'port of the operator API', default: '8081' },
  {
    name: 'AEX_OPERATOR_PUBLIC_URL',
    meaning: 'base URL of the operator console in browsers, such as https://console.example',
    default: 'from host, port and TLS',
  },
  {
    name: 'AEX_OPERATOR_OIDC_ISSUER',
    meaning: 'OpenID Connect issuer that signs operators in to the console',
    default: 'sign-in with operator tokens only',
  },
  {
    name: 'AEX_OPERATOR_OIDC_CLIENT_ID',
    meaning:
      'client of the console at AEX_OPERATOR_OIDC_ISSUER; its redirect URI ends in /sign-in/oidc/callback',
    default: 'none',
  },
  {
    name: 'AEX_OPERATOR_OIDC_CLIENT_SECRET_FILE',
    meaning: 'file with the secret of that client',
    default: 'a public client (PKCE only)',
  },
  {
    name: 'AEX_OPERATOR_OIDC_ROLES',
    meaning:
      'roles by group, as CLAIM:GROUP=ROLE,… such as groups:aex-admins=administrator,aex-ops=operator,*=viewer',
    default: 'none',
  },
  {
    name: 'AEX_PUBLIC_URL',
    meaning: 'base URL for agents; audience of access tokens',
    default: 'from host, port and TLS',
  },
  {
    name: 'AEX_DATA_DIR',
    meaning: 'directory of the embedded database, generated keys and the operator token',
    default: './data',
  },
  {
    name: 'DATABASE_URL',
    meaning:
      'PostgreSQL 15 or later, as postgres://user:password@host/database; several hosts and TLS files as in libpq',
    default: 'the embedded database',
  },
  {
    name: 'AEX_DATABASE_DIRECT_URL',
    meaning:
      'the same database without a pooler, for LISTEN, session locks and migrations; ' +
      'DATABASE_URL may then lead to PgBouncer in transaction mode',
    default: 'as DATABASE_URL',
  },
  {
    name: 'AEX_DATABASE_READ_URL',
    meaning: 'streaming replica of DATABASE_URL that serves pages of skills and evidence',
    default: 'no replica',
  },
  { name: 'AEX_TLS_CERT', meaning: 'certificate chain of both listeners (PEM file)', default: 'no TLS' },
  { name: 'AEX_TLS_KEY', meaning: 'private key of AEX_TLS_CERT (PEM file)', default: 'no TLS' },
  {
    name: 'AEX_TLS_CLIENT_CA',
    meaning:
      'certificate authorities of client certificates (PEM file); enables mutual TLS, and verifies the ' +
      'certificates that AEX_TRUSTED_PROXIES forward',
    default: 'no client certificates',
  },
  {
    name: 'AEX_TRUSTED_PROXIES',
    meaning:
      'addresses or networks of proxies that terminate TLS for the agent API and may send Client-Cert, ' +
      'comma-separated; without AEX_TLS_CERT all other peers are refused there',
    default: 'none',
  },
  {
    name: 'AEX_PROXY_SECRET_FILE',
    meaning:
      'file with a secret that the proxies of AEX_TRUSTED_PROXIES send as AEX-Proxy-Secret; without it, every program on ' +
      'their machines may send Client-Cert',
    default: 'none',
  },
  {
    name: 'AEX_ISSUER',
    meaning: 'external OAuth 2.0 issuer whose access tokens are accepted',
    default: 'the embedded authorization server',
  },
  {
    name: 'AEX_PROFILE',
    meaning: 'deployment profile: JSON file that overrides open points',
    default: 'the default profile',
  },
  {
    name: 'AEX_WEBHOOK_CA',
    meaning: 'additional certificate authorities of webhook receivers (PEM file)',
    default: "Node's own",
  },
  {
    name: 'AEX_WEBHOOK_ALLOW_PRIVATE',
    meaning: 'true: webhook receivers may have private and loopback addresses (development, tests)',
    default: 'false',
  },
  { name: 'AEX_ROLE', meaning: 'what this process does: all, api or worker', default: 'all' },
  { name: 'AEX_WORKERS', meaning: 'API processes that share the port', default: '1' },
  {
    name: 'AEX_FIRST_OPERATOR',
    meaning:
      'false: this process does not create the first operator, because its AEX_DATA_DIR, where the token would be, is temporary or out of reach',
    default: 'true',
  },
  {
    name: 'AEX_MASTER_KEY',
    meaning: "encrypts the platform's private keys: 32 bytes as base64url or hex; required with DATABASE_URL",
    default: 'generated into AEX_DATA_DIR/master-key',
    secret: true,
  },
  {
    name: 'AEX_MASTER_KEY_PREVIOUS',
    meaning: 'the former master key, until `aex master-key rotate` has replaced it',
    default: 'none',
    secret: true,
  },
  {
    name: 'AEX_MASTER_KEY_FILE',
    meaning:
      'file with the master key, instead of AEX_MASTER_KEY; a second line holds the previous key; it is read again when it changes',
    default: 'none',
  },
  {
    name: 'AEX_PKCS11_MODULE',
    meaning:
      'library of a PKCS#11 module that makes and holds the signing keys of the exchange; needs pkcs11js',
    default: 'keys in the database, under the master key',
  },
  { name: 'AEX_PKCS11_TOKEN', meaning: 'label of the token in AEX_PKCS11_MODULE', default: 'none' },
  { name: 'AEX_PKCS11_PIN_FILE', meaning: 'file with the user PIN of that token', default: 'none' },
  {
    name: 'AEX_SMTP_URL',
    meaning: 'mail server for owner alerts, as smtps://user:password@host',
    default: 'no mail',
  },
  { name: 'AEX_ALERT_FROM', meaning: 'sender address of owner alerts', default: 'no mail' },
  {
    name: 'AEX_LOG_LEVEL',
    meaning: 'minimum level of log lines: trace, debug, info, warn, error, fatal or silent',
    default: 'info',
  },
  {
    name: 'AEX_WITNESS_POLICY',
    meaning: 'C2SP tlog-policy file whose witnesses (32 at most, https) cosign the transparency log',
    default: 'no witnesses',
  },
  ...TRACING_VARIABLES,
  { name: 'OTEL_SERVICE_NAME', meaning: 'name of this service in traces', default: 'agent-exchange' },
] as const satisfies readonly Variable[]

export type VariableName = (typeof VARIABLES)[number]['name']

export function defaultOf(name: VariableName): string {
  return VARIABLES.find((variable) => variable.name === name)?.default ?? ''
}
