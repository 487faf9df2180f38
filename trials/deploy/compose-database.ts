import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { startTestServer } from '../../packages/testkit/src/test-server.ts'
import { mustRun, requireProgram, run } from '../shared/programs.ts'
import { ROOT } from '../../tools/repository/repository-files.ts'

const LIMIT_MS = 30_000
/** Scripts by the role that they create; its database has the same name. */
const SCRIPTS = { exchange: 'create-role.sql', gateway: 'create-gateway-role.sql' } as const

/** A PostgreSQL after the first start of a compose file: its script has run, as the entry point of the image runs it. */
export async function composeDatabase(
  role: keyof typeof SCRIPTS,
): Promise<AsyncDisposable & { readonly url: string }> {
  requireProgram('psql', '--version')
  const server = await startTestServer()
  const superuser = new URL(server.url)
  const password = randomBytes(16).toString('hex')
  const env = { PGPASSWORD: superuser.password, POSTGRES_PASSWORD: password }
  const psql = ['--no-psqlrc', '--no-password', '--set=ON_ERROR_STOP=1', `--host=${superuser.hostname}`]
  const as = (user: string, database: string) => [
    ...psql,
    `--port=${superuser.port}`,
    `--username=${user}`,
    `--dbname=${database}`,
  ]
  try {
    const args = as(superuser.username, superuser.pathname.slice(1))
    const script = join(ROOT, 'deploy/postgres', SCRIPTS[role])
    await mustRun('psql', [...args, `--file=${script}`], { env, limitMs: LIMIT_MS })
    const again = await run('psql', [...args, '--command=select 1'], { env, limitMs: LIMIT_MS })
    if (again.code === 0) throw new Error('the superuser of the compose file still has a password')
    // The role owns its database and nothing else.
    await mustRun('psql', [...as(role, role), '--command=create table owned ()'], {
      env: { PGPASSWORD: password },
      limitMs: LIMIT_MS,
    })
    const made = await run('psql', [...as(role, role), '--command=create role another'], {
      env: { PGPASSWORD: password },
      limitMs: LIMIT_MS,
    })
    if (made.code === 0) throw new Error('the role of the service can create roles')
  } catch (error) {
    await server[Symbol.asyncDispose]()
    throw error
  }
  return {
    url: `postgres://${role}:${password}@${superuser.host}/${role}`,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}
