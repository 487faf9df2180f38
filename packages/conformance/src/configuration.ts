import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { OpenPoints } from './run/context.ts'
import { commandHook, HOOK_NAMES, type HookName, type Hooks } from './run/hooks.ts'
import type { OrganizationSettings, ServiceUnderTest } from './service/judge-service.ts'
import { isObject } from './wire/wire.ts'

type Members = Readonly<Record<string, unknown>>

/** Reads the file that names organizations, receiver and hooks. Paths in it are relative to it. */
export function readConfiguration(path: string, baseUrl: string): ServiceUnderTest {
  const file = parse(readFileSync(path, 'utf8'), path)
  const read = (name: unknown) => readFileSync(resolve(dirname(path), text(name, 'a file name')), 'utf8')
  const given: unknown = file['organizations']
  const organizations = Array.isArray(given)
    ? given.filter(isObject).map((each) => organizationOf(each, read))
    : []
  const [sender, recipient, outsider, ...more] = organizations
  if (!sender || !recipient || !outsider || more.length > 0)
    throw new Error(`${path}: "organizations" has to name exactly three of them`)
  return {
    baseUrl: baseUrl.replace(/\/$/u, ''),
    organizations: [sender, recipient, outsider],
    hooks: hooksOf(file['hooks']),
    ...(file['profile'] !== undefined && { profile: text(file['profile'], 'profile') }),
    ...(file['ca_file'] !== undefined && { ca: read(file['ca_file']) }),
    ...(isObject(file['webhooks']) && { webhooks: receiverOf(file['webhooks'], read) }),
    ...(isObject(file['open_points']) && { openPoints: file['open_points'] as OpenPoints }),
  }
}

type Read = (name: unknown) => string

function organizationOf(entry: Members, read: Read): OrganizationSettings {
  const client = {
    organizationId: text(entry['organization_id'], 'organization_id'),
    clientId: text(entry['client_id'], 'client_id'),
  }
  if (entry['private_jwk_file'] !== undefined) {
    const name = text(entry['private_jwk_file'], 'private_jwk_file')
    return { ...client, privateJwk: parse(read(name), name), ...certificateOf(entry, read) }
  }
  if (entry['certificate_file'] === undefined)
    throw new Error(`${client.organizationId} has neither private_jwk_file nor certificate_file`)
  return { ...client, ...certificateOf(entry, read) }
}

/** A client with a private key may have a certificate as well (O-30). */
const certificateOf = (entry: Members, read: Read) =>
  entry['certificate_file'] !== undefined && {
    tls: { cert: read(entry['certificate_file']), key: read(entry['key_file']) },
  }

function receiverOf(entry: Members, read: Read) {
  return {
    url: text(entry['url'], 'webhooks.url'),
    listen: parseListenAddress(text(entry['listen'], 'webhooks.listen'), 'webhooks.listen'),
    certificate: read(entry['certificate_file']),
    key: read(entry['key_file']),
  }
}

const MAXIMUM_PORT = 65_535

/** `127.0.0.1:8080`, or `[::1]:8080`. */
export function parseListenAddress(given: string, what: string): { host: string; port: number } {
  const { v6, v4, digits } =
    /^(?:\[(?<v6>[0-9a-fA-F:.]+)\]|(?<v4>[^:[\]]+)):(?<digits>\d{1,5})$/u.exec(given)?.groups ?? {}
  const [host, port] = [v6 ?? v4, Number(digits)]
  if (host === undefined || port > MAXIMUM_PORT)
    throw new Error(`${what} needs an address and a port, such as 127.0.0.1:8080 or [::1]:8080`)
  return { host, port }
}

function hooksOf(entry: unknown): Hooks {
  if (!isObject(entry)) return {}
  const unknown = Object.keys(entry).find((name) => !(HOOK_NAMES as readonly string[]).includes(name))
  if (unknown !== undefined) throw new Error(`there is no hook ${unknown}: ${HOOK_NAMES.join(', ')}`)
  return Object.fromEntries(
    Object.entries(entry).map(([name, words]) => {
      if (!Array.isArray(words) || !words.every((word) => typeof word === 'string'))
        throw new Error(`the hook ${name} has to be a list of words, the program first`)
      return [name, commandHook(name as HookName, words)]
    }),
  )
}

function text(value: unknown, what: string): string {
  if (typeof value !== 'string' || value === '') throw new Error(`${what} is missing`)
  return value
}

function parse(content: string, path: string): Members {
  try {
    const value: unknown = JSON.parse(content)
    if (isObject(value)) return value
  } catch {
    // Said below; the text may hold a key, so no part of it is repeated.
  }
  throw new Error(`${path} is no JSON object`)
}
