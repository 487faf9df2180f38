import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { ExchangeError } from '@agent-exchange/sdk'
import { startWorld, type World } from '@agent-exchange/testkit'
import { aexAt, aexHere, fails, succeeds } from '../../aex-here.fixture.ts'
import { explanationOf } from '../../agent/agent-failure.ts'
import { AGENT_VARIABLES, CONFIG_VARIABLE, OPERATOR_VARIABLES } from '../../agent/client-variables.ts'
import { ROOT } from '../../running-exchange.fixture.ts'
import { letIn, madeAgent, packageBetween, temporaryFolder } from './agents.fixture.ts'

const folder = temporaryFolder()
let world: World
before(async () => {
  world = await startWorld()
})
after(async () => {
  await world[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

/** The words of the last command for an agent that was printed, as a shell reads them. */
function pasted(text: string): string[] {
  const line = text.match(/npx aex (agent .*)$/gmu)?.at(-1) ?? assert.fail(text)
  const words = line.match(/'[^']*'|\S+/gu) ?? []
  return words.slice(2).map((word) => word.replaceAll("'", ''))
}

test('printed next steps run as they are pasted, from a folder with a space and an exchange on another port', async () => {
  const dir = folder.path('the planner')
  const made = await aexHere(
    'agent',
    'init',
    '--org',
    'org_plan',
    '--agent',
    'agent_plan',
    '--dir',
    dir,
    '--url',
    world.url,
  )
  const register = pasted(made.stdout)
  assert.deepEqual(register.slice(0, 4), ['agent', 'register', '--client', 'CLIENT_ID'])
  const client = await letIn(world, 'plan', dir)
  const registered = await succeeds(...register.map((word) => (word === 'CLIENT_ID' ? client : word)))
  assert.match(await succeeds(...pasted(registered)), /Everything is as it should be/)

  const other = await madeAgent(world, 'other', folder.path('other'))
  await packageBetween(other, dir)
  const inbox = await succeeds('agent', 'inbox', '--dir', dir)
  assert.match(await succeeds(...pasted(inbox)), /1 received/)

  const policy = folder.path('policy.json')
  const object = folder.path('object.json')
  const terms = ['--to', 'org_other', '--policy-id', 'pol_1', '--dir', dir]
  await succeeds('new', 'policy_envelope', ...terms, '--out', policy)
  await succeeds('new', 'reasoning_package', ...terms, '--out', object)
  const sent = await aexHere('agent', 'send', object, '--policy', policy, '--to', 'agent_other', '--dir', dir)
  assert.match(
    sent.stderr,
    /warning: sentences of the template were sent as they are: \/business_context\/time_horizon, /,
  )
  assert.match(await succeeds(...pasted(sent.stdout)), /native[^]*agent_plan/)
})

test('what was set for one command alone is in the next step that it prints', async () => {
  const dir = await madeAgent(world, 'elsewhere', folder.path('elsewhere'), {
    url: 'http://127.0.0.1:9',
    register: false,
  })
  const env = { AEX_URL: world.url, AEX_AGENT_DIR: dir }
  const unregistered = await aexAt({ env }, 'agent', 'doctor')
  assert.equal(unregistered.code, 1)
  const step = pasted(unregistered.stdout)
  assert.deepEqual(step, ['agent', 'register', '--dir', dir, '--url', world.url])
  assert.match(await succeeds(...step), /is registered/)
  const none = folder.path('none')
  const made = `npx aex agent init --org ORG_ID --agent AGENT_ID --dir ${none}`
  assert.ok((await fails('agent', 'token', '--dir', none)).includes(made))
})

test('a failure without its counterpart names the command that starts it, in the same folder', async () => {
  const dir = folder.path('the planner')
  const listen = `npx aex agent listen --test --dir '${dir}'`
  assert.ok((await fails('agent', 'test-event', 'package.accepted', '--dir', dir)).includes(listen))
  const env = { AEX_OPERATOR_URL: 'http://127.0.0.1:9', AEX_OPERATOR_TOKEN: 'x'.repeat(43) }
  const { stderr } = await aexAt({ env }, 'status')
  assert.match(stderr, /Start it with npx aex serve, or set AEX_OPERATOR_URL/u)
})

test('the developer who gets an invitation pastes the printed command', async () => {
  const { body } = await world.operate('POST', '/operators', { name: 'inviter', role: 'administrator' })
  const env = { AEX_OPERATOR_URL: world.operatorUrl, AEX_OPERATOR_TOKEN: String(body['token']) }
  await aexAt({ env }, 'org', 'create', 'org_invited', '--name', 'Invited')
  const made = await aexAt({ env }, 'invite', 'create', '--org', 'org_invited')
  const step = pasted(made.stderr).map((word) => (word === 'INVITATION' ? made.stdout.trim() : word))
  assert.match(await succeeds(...step, '--dir', folder.path('invited')), /of org_invited has joined/u)
})

test('a variable with a slip in its name is named, and one of the service is not', async () => {
  const dir = folder.path('other')
  const env = { AEX_CLIENTID: 'x', AEX_PORT: '1', AEX_SOMETHING_ELSE: 'y', AEX_CA: undefined }
  const { code, stderr } = await aexAt({ env }, 'agent', 'peers', '--dir', dir)
  assert.equal(code, 0)
  assert.equal(
    stderr,
    'AEX_CLIENTID is not a variable of aex and has no effect. Did you mean AEX_CLIENT_ID?\n' +
      'AEX_SOMETHING_ELSE is not a variable of aex and has no effect.\n',
  )
  const plain = await aexHere('agent', 'peers', '--dir', dir)
  assert.equal(plain.stderr, '')
})

test('--help of every command for agents names the variables that it reads', async () => {
  for (const command of ['send', 'open', 'listen', 'inbox', 'receive', 'register', 'doctor']) {
    const { stdout } = await aexHere('agent', command, '--help')
    for (const { name, option } of AGENT_VARIABLES)
      assert.match(stdout, new RegExp(`^ {2}${name} +${option}$`, 'm'), `${command} ${name}`)
  }
  const { stdout } = await aexHere('agent', 'peers', '--help')
  assert.match(stdout, /AEX_AGENT_DIR/)
  assert.doesNotMatch(stdout, /AEX_URL/)
})

test('docs/client-variables.md lists every client variable with its option and default', () => {
  const page = readFileSync(join(ROOT, 'docs/client-variables.md'), 'utf8').replaceAll('`', '')
  const rows = page
    .split('\n')
    .filter((line) => line.startsWith('| AEX_'))
    .map((line) => line.split('|').map((cell) => cell.trim()))
  assert.deepEqual(
    rows.map(([, name, option, meaning, usual]) => ({ name, option, meaning, default: usual })),
    [...AGENT_VARIABLES, CONFIG_VARIABLE, ...OPERATOR_VARIABLES].map((variable) => ({
      ...variable,
      meaning: variable.meaning.replaceAll('"', ''),
    })),
  )
})

test('an exchange with an untrusted certificate is checked with --ca, in the same folder', () => {
  const error = new ExchangeError('exchange_untrusted', { what: 'The certificate is self-signed.' })
  const text = explanationOf(error, { dir: 'planner' })
  assert.match(text, /^The certificate is self-signed\. .*`--ca FILE`.* \(exchange_untrusted\)$/mu)
  assert.match(text, /aex agent doctor --dir planner --ca FILE$/u)
})
