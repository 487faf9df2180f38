import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { World } from '@agent-exchange/testkit'

const LIMIT_MS = 60_000
const run = promisify(execFile)

export interface OperatorCommand {
  /** The command `aex` of some revision. */
  readonly program: string
  readonly operatorUrl: string
  readonly token: string
  /** For files that the command reads. */
  readonly folder: string
}

/** Creates organizations and clients by `aex org create` and `aex client create`. */
export function operateByCommand({ program, operatorUrl, token, folder }: OperatorCommand): World['operate'] {
  const env = {
    PATH: process.env['PATH'],
    AEX_OPERATOR_URL: operatorUrl,
    AEX_OPERATOR_TOKEN: token,
  }
  return async (method, path, body = {}) => {
    const args = await argumentsFor(`${method} ${path}`, body as Record<string, unknown>, folder)
    const options = { env, cwd: folder, timeout: LIMIT_MS }
    const { stdout } = await run(process.execPath, [program, ...args, '--json'], options)
    return { status: 201, body: JSON.parse(stdout) as Record<string, unknown> }
  }
}

async function argumentsFor(
  operation: string,
  body: Readonly<Record<string, unknown>>,
  folder: string,
): Promise<string[]> {
  const organization = String(body['organization_id'])
  if (operation === 'POST /organizations') {
    return ['org', 'create', organization, '--name', String(body['name'])]
  }
  if (operation === 'POST /clients') {
    const file = join(folder, `${randomUUID()}.jwk.json`)
    await writeFile(file, JSON.stringify(body['public_jwk']))
    return ['client', 'create', '--org', organization, '--jwk', file]
  }
  throw new Error(`${operation} has no command`)
}
