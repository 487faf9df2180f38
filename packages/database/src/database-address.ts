import type pg from 'pg'
import { parse, toClientConfig } from 'pg-connection-string'
import { KEEP_ALIVE_AFTER_MS } from './connection-limits.ts'
import { DatabaseFailure } from './database-errors.ts'

/** A postgres:// address, or where the embedded server listens. */
export type ConnectionTarget = string | SocketTarget

export interface SocketTarget {
  readonly socketDirectory: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
}

type Host = Required<Pick<pg.ClientConfig, 'host' | 'port'>>

export interface ConnectionOptions {
  /** Tried in order. Where a role is required, the host that had it last comes first, and one that hung comes last. */
  readonly hosts: readonly Host[]
  readonly known: { found?: Host | undefined; hung?: Host | undefined }
  readonly role: 'any' | 'primary' | 'standby'
  readonly client: pg.ClientConfig
  /** Settings of the session. */
  readonly settings: Readonly<Record<string, string>>
  /** Settings of each transaction, for a pooler that changes the session between transactions. */
  readonly transactionSettings?: Readonly<Record<string, string>>
  readonly hasNamedStatements: boolean
  /** Statements without an answer end their connection after this time. Undefined: never. */
  readonly answerLimitMs?: number | undefined
}

const DEFAULT_PORT = '5432'
const TLS_MODES = { disable: 0, require: 0, 'verify-ca': 0, 'verify-full': 0 }
const ROLES = {
  any: 'any',
  'read-write': 'primary',
  primary: 'primary',
  'read-only': 'standby',
  standby: 'standby',
} as const
const ADDRESS = /^(?<before>postgres(?:ql)?:\/\/(?:[^@/?]*@)?)(?<hosts>[^/?]*)(?<after>.*)$/su

/**
 * Reads an address as libpq does: several hosts, `target_session_attrs`, `sslmode` and the certificate files. Only
 * `prepare=false` is our own parameter.
 *
 * @throws {DatabaseFailure}
 */
export function connectionOptionsOf(
  target: ConnectionTarget,
  applicationName: string,
  settings: ConnectionOptions['settings'],
  defaultRole: 'any' | 'primary' = 'any',
): ConnectionOptions {
  const found = ADDRESS.exec(typeof target === 'string' ? target : addressOf(target))?.groups
  if (!found) throw new DatabaseFailure('The address of the database must begin with postgres://.')
  const { before = '', hosts = '', after = '' } = found
  // The parser supports a single host.
  const each = hosts.split(',').map((host) => parsed(`${before}${host}${after}`))
  const [{ host: _, port: __, ...first } = { host: '', database: '' }] = each
  if (first['sslmode'] !== undefined) chosen('sslmode', first['sslmode'], TLS_MODES)
  const client = toClientConfig({ ...first, host: null })
  return {
    hosts: each.flatMap(hostsOf),
    known: {},
    role: chosen('target_session_attrs', first['target_session_attrs'] ?? defaultRole, ROLES),
    client: {
      ...client,
      // If it is undefined, pg reads the environment.
      ssl: client.ssl ?? false,
      application_name: client.application_name ?? applicationName,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    },
    settings,
    hasNamedStatements: first['prepare'] !== 'false',
  }
}

type Parsed = ReturnType<typeof parse>

function parsed(address: string): Parsed {
  try {
    return parse(address, { useLibpqCompat: true })
  } catch (error) {
    // Without the cause, which may contain the password.
    const reason = error instanceof Error && !('input' in error) ? `: ${error.message}` : ''
    throw new DatabaseFailure(`The address of the database cannot be used${reason}.`)
  }
}

/** `?host=a,b&port=1,2` names several hosts too; a single port applies to all of them. */
function hostsOf({ host, port }: Parsed): Host[] {
  const ports = (port || DEFAULT_PORT).split(',')
  return (host ?? '')
    .split(',')
    .map((name, index) => ({ host: name, port: Number(ports[index] ?? ports[0]) }))
}

function chosen<T>(name: string, value: unknown, choices: Readonly<Record<string, T>>): T {
  const choice = Object.entries(choices).find(([each]) => each === value)
  if (choice) return choice[1]
  throw new DatabaseFailure(`${name}=${String(value)} is not known. Use ${Object.keys(choices).join(', ')}.`)
}

/** The same target as an address, for another process. */
export function addressOf({ socketDirectory, port, user, password, database }: SocketTarget): string {
  const credentials = `${encodeURIComponent(user)}:${encodeURIComponent(password)}`
  const host = encodeURIComponent(socketDirectory)
  return `postgres://${credentials}@localhost:${port}/${encodeURIComponent(database)}?host=${host}`
}
