import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { startTestServer } from '../../packages/testkit/src/test-server.ts'
import { mustRun, requireProgram, run } from '../shared/programs.ts'
import { ROOT } from '../../tools/repository/repository-files.ts'

const LIMIT_MS = 30_000
const SCRIPT = join(ROOT, 'deploy/postgres/create-role.sql')

/** A PostgreSQL after the first start of the compose file: its script has run, as the entry point of the image runs it. */
export async function composeDatabase(): Promise<AsyncDisposable & { readonly url: string }> {
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
    await mustRun('psql', [...args, `--file=${SCRIPT}`], { env, limitMs: LIMIT_MS })
    const again = await run('psql', [...args, '--command=select 1'], { env, limitMs: LIMIT_MS })
    if (again.code === 0) throw new Error('the superuser of the compose file still has a password')
    // The role owns its database and nothing else.
    await mustRun('psql', [...as('exchange', 'exchange'), '--command=create table owned ()'], {
      env: { PGPASSWORD: password },
      limitMs: LIMIT_MS,
    })
    const made = await run('psql', [...as('exchange', 'exchange'), '--command=create role another'], {
      env: { PGPASSWORD: password },
      limitMs: LIMIT_MS,
    })
    if (made.code === 0) throw new Error('the role of the service can create roles')
  } catch (error) {
    await server[Symbol.asyncDispose]()
    throw error
  }
  return {
    url: `postgres://exchange:${password}@${superuser.host}/exchange`,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}
