import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { runCommand } from './command-line.ts'
import { parseListenAddress, readConfiguration } from './configuration.ts'

const folder = mkdtempSync(join(tmpdir(), 'aex-conformance-test-'))
after(() => rmSync(folder, { recursive: true }))

async function run(...words: string[]) {
  const printed: string[] = []
  const print = (line: string) => void printed.push(line)
  const code = await runCommand(words, { log: print, error: print, colors: false })
  return { code, text: printed.join('\n') }
}

/** A program that gives every line the same answer. */
const ALWAYS = (member: string, value: unknown) => [
  process.execPath,
  '-e',
  `require('node:readline').createInterface({ input: process.stdin }).on('line', () => console.log('${JSON.stringify({ [member]: value })}'))`,
]

const organization = (name: string) => ({
  organization_id: `org_${name}`,
  client_id: `client_${name}`,
  private_jwk_file: 'key.jwk',
})
const write = (name: string, value: unknown) => {
  const path = join(folder, name)
  writeFileSync(path, JSON.stringify(value))
  return path
}

test('list names every requirement with whom it is judged of', async () => {
  const { code, text } = await run('list')
  assert.equal(code, 0)
  assert.match(text, /^PKG-09 .+ \(service\)$/mu)
  assert.match(text, /^EVT-14 .+ \(agent\)$/mu)
  assert.match(text, /^AUD-03 .+ \(verifier of capsules, log\)$/mu)
  assert.match(text, /^OBJ-18 .+ \(nobody: .+\)$/mu)
})

test('what cannot run exits with 2 and says what to do', async () => {
  assert.match((await run()).text, /aex-conformance service BASE_URL --config FILE/u)
  assert.deepEqual(await run('service', 'http://127.0.0.1:1', '--config', 'x', '--only', 'PKG-99'), {
    code: 2,
    text: 'there is no requirement PKG-99: aex-conformance list names them',
  })
  write('key.jwk', {})
  const config = write('two.json', { organizations: [organization('a'), organization('b')] })
  const two = await run('service', 'http://127.0.0.1:1', '--config', config)
  assert.equal(two.code, 2)
  assert.match(two.text, /exactly three/u)
  const three = write('three.json', { organizations: ['a', 'b', 'c'].map(organization) })
  const unreachable = await run('service', 'http://127.0.0.1:1', '--config', three)
  assert.equal(unreachable.code, 2)
  assert.match(unreachable.text, /ECONNREFUSED|connect/u)
})

test('a configuration with an unknown hook, or without a credential, is refused', () => {
  const organizations = ['a', 'b', 'c'].map(organization)
  const hooks = write('hooks.json', { organizations, hooks: { drop_tables: ['true'] } })
  assert.throws(() => readConfiguration(hooks, 'https://x.example'), /no hook drop_tables/u)
  const { private_jwk_file: _, ...bare } = organization('a')
  const missing = write('missing.json', { organizations: [bare, bare, bare] })
  assert.throws(() => readConfiguration(missing, 'https://x.example'), /neither private_jwk_file nor/u)
})

test('an option that has no effect on a judge is refused', async () => {
  for (const option of ['state', 'timeout', 'concurrency', 'config']) {
    const { code, text } = await run('agent', `--${option}`, '1', '--', '/absent/program')
    assert.deepEqual([code, text], [2, `--${option} has no effect on aex-conformance agent`])
  }
  const { text } = await run('objects', '--seed', 'x', '--', '/absent/program')
  assert.equal(text, '--seed has no effect on aex-conformance objects')
})

test('an address to listen on is IPv4, a name, or IPv6 in brackets', () => {
  assert.deepEqual(parseListenAddress('0.0.0.0:8443', 'x'), { host: '0.0.0.0', port: 8443 })
  assert.deepEqual(parseListenAddress('localhost:0', 'x'), { host: 'localhost', port: 0 })
  assert.deepEqual(parseListenAddress('[::1]:8443', 'x'), { host: '::1', port: 8443 })
  for (const wrong of ['::1:8443', '8443', 'localhost:', ':8443', 'localhost:70000', '[localhost]:1'])
    assert.throws(() => parseListenAddress(wrong, 'webhooks.listen'), /webhooks\.listen needs an address/u)
})

test('a validator is judged by the committed objects, and one that accepts all fails', async () => {
  const vectors = join(folder, 'objects')
  const source = join(import.meta.dirname, '../../../interop/vectors/objects')
  for (const kind of ['valid', 'invalid']) {
    const name = { valid: 'policy-envelope.json', invalid: 'obj-04-inline-hash.json' }[kind] ?? ''
    mkdirSync(join(vectors, kind), { recursive: true })
    copyFileSync(join(source, kind, name), join(vectors, kind, name))
  }
  const junit = join(folder, 'junit.xml')
  const { code, text } = await run(
    'objects',
    '--vectors',
    vectors,
    '--junit',
    junit,
    '--',
    ...ALWAYS('valid', true),
  )
  assert.equal(code, 1)
  assert.match(text, /^✖ OBJ-04/mu)
  assert.match(text, /^✔ OBJ-07/mu)
  assert.match(readFileSync(junit, 'utf8'), /classname="OBJ-04"/u)
  assert.equal(
    (await run('objects', '--vectors', vectors, '--only', 'OBJ-07', '--', ...ALWAYS('valid', true))).code,
    0,
  )
})

test('[AUD-03] a verifier that calls every capsule proven fails by the false ones', async () => {
  const json = join(folder, 'capsules.json')
  const { code, text } = await run('capsules', '--json', json, '--', ...ALWAYS('word', 'proven'))
  assert.equal(code, 1)
  assert.match(text, /^✖ AUD-03/mu)
  const { results } = JSON.parse(readFileSync(json, 'utf8')) as { results: { verdict: string }[] }
  const count = (wanted: string) => results.filter(({ verdict }) => verdict === wanted).length
  assert.ok(count('pass') > 10 && count('fail') > 100, `${count('pass')} right, ${count('fail')} wrong`)
})

test('a program that ends before it answers is named with its exit code', async () => {
  const ended = await run('objects', '--', process.execPath, '-e', 'process.exit(7)')
  assert.equal(ended.code, 2)
  assert.match(ended.text, /ended with exit code 7 before it answered/u)
  assert.match((await run('objects', '--', '/absent/program')).text, /could not be started/u)
})
