import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { World } from '@agent-exchange/testkit'

const FOLDER = join(import.meta.dirname, '..')
const SCRIPT = join(FOLDER, 'agent.sh')
const LIMIT_MS = 120_000

interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** The agent curl-agent/agent.sh with its own folder; each call is a process. */
export interface ShellAgent {
  readonly organizationId: string
  readonly agentId: string
  readonly home: string
  /** Runs a command that must succeed, and returns its output. */
  run(...args: string[]): Promise<string>
  /** Runs a command that must fail, and returns its error output. */
  refused(...args: string[]): Promise<string>
  /** The same agent, reaching the exchange through a proxy. */
  through(proxyUrl: string): ShellAgent
}

interface Place {
  readonly folder: string
  /** A Python that has jwcrypto. */
  readonly python: string
}

/** Generates keys, creates the client through the operator API, and registers the agent. */
export async function startShellAgent(world: World, { folder, python }: Place): Promise<ShellAgent> {
  const tail = randomBytes(8).toString('hex')
  const identity = {
    organizationId: `org_shell_${tail}`,
    agentId: `agent_shell_${tail}`,
    home: join(folder, `agent-${tail}`),
  }
  // Only PATH of the environment is passed on.
  const env = { PATH: process.env['PATH'], AGENT_HOME: identity.home, AGENT_PYTHON: python }
  const agent = shellAgent(identity, { ...env, no_proxy: '*' })
  const jwk = await agent.run('init', world.url, agent.organizationId, agent.agentId)
  await provision(world, '/organizations', { organization_id: agent.organizationId, name: 'Shell' })
  const client = await provision(world, '/clients', {
    organization_id: agent.organizationId,
    agent_id: agent.agentId,
    public_jwk: JSON.parse(jwk) as object,
  })
  await agent.run('client', String(client['client_id']))
  return agent
}

type Identity = Pick<ShellAgent, 'organizationId' | 'agentId' | 'home'>

function shellAgent(identity: Identity, env: NodeJS.ProcessEnv): ShellAgent {
  return {
    ...identity,
    through: (proxyUrl) => shellAgent(identity, { ...env, http_proxy: proxyUrl, no_proxy: '' }),
    async run(...args) {
      const { code, stdout, stderr } = await execute(args, env)
      assert.equal(code, 0, `agent.sh ${args[0]} ended with ${code}: ${stderr}`)
      return stdout.trimEnd()
    },
    async refused(...args) {
      const { code, stdout, stderr } = await execute(args, env)
      assert.notEqual(code, 0, `agent.sh ${args[0]} was not refused`)
      assert.equal(stdout, '')
      assert.doesNotMatch(stderr, /Traceback/u)
      return stderr
    },
  }
}

function execute(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile('bash', [SCRIPT, ...args], { env, timeout: LIMIT_MS }, (error, stdout, stderr) => {
      resolve({ code: error ? (typeof error.code === 'number' ? error.code : -1) : 0, stdout, stderr })
    })
  })
}

export function example(name: 'constraint' | 'answer' | 'policy'): string {
  return join(FOLDER, 'examples', `${name}.json`)
}

/** Provisioning by the operator. */
export async function provision(world: World, path: string, body: object): Promise<Record<string, unknown>> {
  const answer = await world.operate('POST', path, body)
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return answer.body
}
