import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { connectFolder } from '@agent-exchange/sdk/node'
import { blocksOf, ROOT, runningExchange, scriptOf } from './running-exchange.fixture.ts'

const run = promisify(execFile)
const MOST_COMMANDS = 3
const SKILL = { id: 'skill_alignment', version: '1.0.0' }

test(
  'an invitation leads to the first automatic answer by the three commands of the quickstart',
  { timeout: 180_000 },
  async () => {
    const [block, ...others] = blocksOf('docs/quickstart.md', 'bash')
    assert.deepEqual(others, [])
    const script = scriptOf([block ?? ''], { url: '' })
    assert.ok(script.trim().split('\n').length <= MOST_COMMANDS, script)

    await using exchange = await runningExchange()
    const aex = async (...args: string[]) => (await run('aex', args, { env: exchange.env })).stdout.trim()
    await aex('org', 'create', 'org_seats', '--name', 'Seat supplier')
    await aex('org', 'create', 'org_cars', '--name', 'Carmaker')
    const seats = join(exchange.folder, 'seats')
    await aex('agent', 'join', await aex('invite', 'create', '--org', 'org_seats'), '--dir', seats)
    const INVITATION = await aex('invite', 'create', '--org', 'org_cars', '--agent', 'agent_cars')

    // The new user knows the invitation alone: neither the address of the exchange nor its operator.
    const { AEX_URL: _url, AEX_OPERATOR_URL: _operator, AEX_DATA_DIR: _data, ...env } = exchange.env
    const checkout = join(exchange.folder, 'checkout')
    mkdirSync(checkout)
    symlinkSync(join(ROOT, 'examples'), join(checkout, 'examples'))
    const user = spawn('bash', ['-euo', 'pipefail', '-c', script], {
      cwd: checkout,
      env: { ...env, INVITATION },
      // A process group of its own, so that the end of the shell also ends the program.
      detached: true,
    })
    const ended = once(user, 'exit')
    let printed = ''
    for (const stream of [user.stdout, user.stderr])
      stream.setEncoding('utf8').on('data', (part: string) => (printed += part))
    try {
      while (!printed.includes('Answering packages.')) {
        assert.equal(user.exitCode, null, printed)
        await Promise.race([once(user.stdout, 'data'), ended])
      }
      assert.equal(await answerOf(seats), 'Noted: Confirm delivery in week 13.')
      assert.match(printed, /^Answered pkg_\w+ with pkg_\w+$/mu)
    } finally {
      if (user.exitCode === null) process.kill(-(user.pid ?? 0), 'SIGTERM')
      await ended
    }
  },
)

/** Sends a question and returns the summary of the answer. */
async function answerOf(folder: string): Promise<string> {
  await using agent = await connectFolder(folder)
  const cars = { organizationId: 'org_cars', agentId: 'agent_cars' }
  const policy = agent.make.policyEnvelope({ to: cars, purpose: 'alignment' })
  const object = agent.make.reasoningPackage({
    to: cars,
    summary: 'Rails are short in week 12.',
    facts: ['A press is down until week 13.'],
    ask: 'Confirm delivery in week 13.',
    policy,
  })
  const { packageId } = await agent.send({ object, policy, skill: SKILL, to: cars })
  const answered = Promise.withResolvers<string>()
  await using receiver = agent.onPackage(
    ({ object: answer }) => {
      if (answer.object_type === 'response_object' && answer.responds_to_package_id === packageId)
        answered.resolve(answer.response_summary)
    },
    { limits: { pollMs: 500 } },
  )
  await receiver.start()
  return await answered.promise
}
