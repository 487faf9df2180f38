import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Command } from 'commander'
import { TOPICS } from './help-overview.ts'
import { program } from './program.ts'

/** Every command that does something, with the words that lead to it. */
function commandsBelow(command: Command, path: readonly string[] = []): [string, Command][] {
  const children = command
    .createHelp()
    .visibleCommands(command)
    .filter((child) => child.name() !== 'help')
  if (children.length === 0) return [[path.join(' '), command]]
  return children.flatMap((child) => commandsBelow(child, [...path, child.name()]))
}

const COMMANDS = commandsBelow(await program())

function helpOf(command: Command): string {
  const parts: string[] = []
  command.configureOutput({ writeOut: (text) => void parts.push(text) }).outputHelp()
  return parts.join('')
}

test('every command says what it does and shows how it is used', () => {
  assert.ok(COMMANDS.length > 50)
  for (const [name, command] of COMMANDS) {
    const help = helpOf(command)
    assert.notEqual(command.description(), '', name)
    assert.match(help, new RegExp(`\\nExamples:\\n(?:.*\\n)*? +\\$ (?:\\w+=\\S+ )*aex ${name}\\b`, 'u'), name)
  }
})

test('what the list of commands says of each is what the command says of itself', async () => {
  const [listed, loaded] = [await program(['--help']), await program()]
  const described = ({ commands }: Command) => commands.map((each) => [each.name(), each.description()])
  assert.deepEqual(described(listed), described(loaded))
})

test('aex --help fits one screen of 24 lines and 80 columns, and lists every command once', async () => {
  const aex = await program(['--help'])
  const lines = helpOf(aex).trimEnd().split('\n')
  assert.ok(lines.length <= 24, `${lines.length} lines`)
  for (const line of lines) assert.ok(line.length <= 80, line)
  const listed = TOPICS.flatMap(({ rows }) => rows.flatMap(([names]) => names.split(', ')))
  assert.deepEqual(listed.toSorted(), [...aex.commands.map((each) => each.name()), 'help'].toSorted())
})

test('an old name works, is in no list, and says the new one in its help and on standard error', async (t) => {
  const said = t.mock.method(console, 'error', () => {})
  const aex = await program(['agent'])
  const agent = aex.commands.find((command) => command.name() === 'agent')
  assert.ok(agent)
  assert.doesNotMatch(helpOf(agent), /\n {2}(?:take|trigger) /u)
  for (const [old, now] of [
    ['take', 'receive'],
    ['trigger', 'test-event'],
  ] as const) {
    const args = ['agent', old, ...(old === 'trigger' ? ['package.accepted'] : []), '--dir', '/nowhere']
    await assert.rejects(aex.parseAsync(args, { from: 'user' }), /nowhere/u)
    const sentence = `aex agent ${old} is now aex agent ${now}; the old name ends with the next release.`
    assert.ok(
      said.mock.calls.some(({ arguments: [text] }) => text === sentence),
      old,
    )
    const command = agent.commands.find((each) => each.name() === old)
    assert.ok(command && helpOf(command).includes(sentence), old)
  }
})

test('every command takes --json', () => {
  const takes = (command: Command | null): boolean =>
    command !== null && (command.options.some(({ long }) => long === '--json') || takes(command.parent))
  assert.deepEqual(
    COMMANDS.filter(([, command]) => !takes(command)).map(([name]) => name),
    [],
  )
})

test('no command takes a secret on the command line, where other users of the machine could read it', () => {
  const taken = COMMANDS.flatMap(([name, { options }]) =>
    options
      .filter(
        ({ long, required }) => required && /passphrase|token|secret|password|api-key/u.test(long ?? ''),
      )
      .filter(({ long }) => !/-(?:file|header)$/u.test(long ?? ''))
      .map(({ long }) => `${name} ${long}`),
  )
  assert.deepEqual(taken, [])
})

test('aex demo says where the demo is', async () => {
  await assert.rejects(program(['demo', '--mcp']), /run npm run demo/u)
})

test('without the service, its commands say how to install it, and the others work', async () => {
  const run = async (...args: string[]) =>
    (await program(args, () => false)).parseAsync(args, { from: 'user' })
  for (const name of ['serve', 'config', 'migrate', 'backup', 'restore'])
    await assert.rejects(run(name, '--keep', 'x'), {
      name: 'Error',
      message: new RegExp(
        `^aex ${name} needs the service\\. Install it: npm install FOLDER/agent-exchange-database-0\\.1\\.0\\.tgz FOLDER/agent-exchange-pkcs11-0\\.1\\.0\\.tgz FOLDER/agent-exchange-server-0\\.1\\.0\\.tgz FOLDER/agent-exchange-service-0\\.1\\.0\\.tgz, `,
        'u',
      ),
    })
  const loadable = (await program(undefined, () => false)).commands.filter(
    ({ commands }) => commands.length > 0,
  )
  assert.ok(loadable.some((command) => command.name() === 'agent'))
})
