import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateKeyPair, jwkThumbprint, type PrivateJwk, type PublicJwk } from '@agent-exchange/crypto'
import { CommandFailure } from '../failure.ts'

/** What an agent knows about itself. Private keys stand in a file of their own, readable by its owner alone. */
export interface AgentFolder {
  readonly organization_id: string
  readonly agent_id: string
  readonly keys: Readonly<Record<KeyRole, AgentKey>>
}

export type KeyRole = 'client' | 'signing' | 'encryption'

export interface AgentKey {
  readonly key_id: string
  readonly public_jwk: PublicJwk
  readonly created_at: string
}

const DESCRIPTION = 'agent.json'
const PRIVATE_KEYS = 'private-keys.json'
const CLIENT_KEY = 'client-public-key.json'
const OWNER_ONLY = 0o600

/** Makes three key pairs and the folder that keeps them; never over an existing one. */
export async function makeAgentFolder(
  folder: string,
  ids: { readonly organization_id: string; readonly agent_id: string },
): Promise<AgentFolder> {
  if (existsSync(join(folder, DESCRIPTION))) {
    throw new CommandFailure(`${folder} already holds an agent. Choose another folder with --dir.`)
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const created_at = new Date().toISOString()
  const [client, signing, encryption] = await Promise.all([
    newKey('signing'),
    newKey('signing'),
    newKey('encryption'),
  ])
  const described = { client, signing, encryption }
  const keys = Object.fromEntries(
    Object.entries(described).map(([role, { key_id, public_jwk }]) => [
      role,
      { key_id, public_jwk, created_at },
    ]),
  ) as Record<KeyRole, AgentKey>
  const secrets = Object.fromEntries(
    Object.entries(described).map(([role, { private_jwk }]) => [role, private_jwk]),
  )
  const agent: AgentFolder = { ...ids, keys }
  writeFileSync(join(folder, PRIVATE_KEYS), json(secrets), { mode: OWNER_ONLY, flag: 'wx' })
  writeFileSync(join(folder, CLIENT_KEY), json(client.public_jwk))
  writeFileSync(join(folder, DESCRIPTION), json(agent))
  return agent
}

async function newKey(use: 'signing' | 'encryption') {
  const { publicKey, privateJwk } = await generateKeyPair(use)
  // Named by its fingerprint: unique, and the same wherever it is computed.
  return {
    key_id: `key_${await jwkThumbprint(publicKey.jwk)}`,
    public_jwk: publicKey.jwk,
    private_jwk: privateJwk,
  }
}

export function readAgentFolder(folder: string): AgentFolder {
  return read(folder, DESCRIPTION) as AgentFolder
}

/** Refuses a file that others can read: a private key that was seen is no longer private. */
export function readPrivateKey(folder: string, role: KeyRole): PrivateJwk {
  const secrets = read(folder, PRIVATE_KEYS) as Record<KeyRole, PrivateJwk>
  const file = join(folder, PRIVATE_KEYS)
  if ((statSync(file).mode & 0o077) !== 0) {
    throw new CommandFailure(
      `Others can read ${file}. Run \`chmod 600 ${file}\`, and replace the keys if anybody did.`,
    )
  }
  return secrets[role]
}

export function clientKeyFile(folder: string): string {
  return join(folder, CLIENT_KEY)
}

function read(folder: string, name: string): unknown {
  try {
    return JSON.parse(readFileSync(join(folder, name), 'utf8'))
  } catch {
    throw new CommandFailure(
      `There is no agent in ${folder}. Make one with \`aex agent init\`, or name its folder with --dir.`,
    )
  }
}

function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`
}
