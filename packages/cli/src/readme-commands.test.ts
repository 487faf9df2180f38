import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { program } from './program.ts'
import { ROOT } from './running-exchange.fixture.ts'

test('packages/cli/README.md lists every command once', async () => {
  const page = readFileSync(join(ROOT, 'packages/cli/README.md'), 'utf8')
  const [table = ''] = /^\| commands.*?\n\n/msu.exec(page) ?? []
  const cells = table.split('\n').map((line) => line.split('|')[1] ?? '')
  const listed = cells.flatMap((cell) => [...cell.matchAll(/`([a-z-]+)`/gu)].map(([, name = '']) => name))
  const { commands } = await program([])
  assert.deepEqual(listed.toSorted(), commands.map((command) => command.name()).toSorted())
})
