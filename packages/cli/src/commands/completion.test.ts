import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { documentOf, fails, succeeds } from '../aex-here.fixture.ts'

/** What bash offers for a line, in a real shell. The last word is the one that is being typed. */
function offered(script: string, ...words: string[]): string[] {
  const quoted = words.map((word) => `'${word}'`).join(' ')
  const program = `${script}\nCOMP_WORDS=(aex ${quoted})\nCOMP_CWORD=${words.length}\n_aex\nprintf '%s\\n' "\${COMPREPLY[@]}"`
  return execFileSync('bash', ['-u', '-c', program], { encoding: 'utf8' }).split('\n').filter(Boolean)
}

test('bash completes commands, their commands, and options', async () => {
  const script = await succeeds('completion', 'bash')
  assert.deepEqual(offered(script, 'ver'), ['verify'])
  assert.deepEqual(offered(script, 'agent', 'liste'), ['listen'])
  assert.deepEqual(offered(script, 'agent', 'listen', '--fo'), ['--forward-to'])
  assert.deepEqual(offered(script, 'agent', 'listen', '--dir', 'agent', '--te'), ['--test'])
  assert.deepEqual(offered(script, 'org', 'cr'), ['create'])
  assert.deepEqual(offered(script, 'nothing'), [])
})

test('every command of the program is completed, and another shell is refused', async () => {
  const nodes = await documentOf<{ path: string; words: string[] }[]>('completion', 'bash')
  assert.ok(nodes.some(({ path }) => path === 'aex agent keys'))
  for (const { words } of nodes) for (const word of words) assert.match(word, /^[\w-]+$/u)
  assert.match(await fails('completion', 'fish'), /Allowed choices are bash/)
})
