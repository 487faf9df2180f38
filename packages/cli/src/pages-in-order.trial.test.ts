import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startWorld, type World } from '@agent-exchange/testkit'
import { blocksOf, ROOT } from './running-exchange.fixture.ts'

const run = promisify(execFile)

/** Pages in the order in which they continue each other. Each runs in the folder that the ones before it left. */
const PAGES = ['README.md', 'docs/quickstart.md', 'docs/transparency.md']

/** The path of somebody who has only npm: without the commands of this checkout, so that `node` is the machine's own. */
function strangersPath(): string {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'))
    .join(delimiter)
}

/** A new folder beside a checkout: `npx` finds the commands there, as it does inside of it. */
function strangersFolder(cleanup: DisposableStack): string {
  const folder = mkdtempSync(join(tmpdir(), 'aex-pages-'))
  cleanup.defer(() => rmSync(folder, { recursive: true }))
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module", "private": true }')
  return folder
}

/** As it is written, but for the port, and for what a reader fills in. */
async function scriptOf(page: string, { url }: World): Promise<string> {
  const { verifier_keys: keys } = (await (await fetch(`${url}/log/key`)).json()) as {
    verifier_keys: string[]
  }
  const { logKeyFingerprint, parseVerifierKey } = await import('@agent-exchange/log')
  return blocksOf(page, 'sh')
    .filter((block) => !block.includes('npm start'))
    .join('')
    .replaceAll('http://127.0.0.1:8080', url)
    .replaceAll('FINGERPRINT', logKeyFingerprint(parseVerifierKey(keys[0] ?? '')))
}

test(
  'the pages work as they are written, one after the other, in a fresh folder, with the Node of the machine',
  { timeout: 600_000 },
  async () => {
    await using world = await startWorld({ config: { role: 'all' } })
    using cleanup = new DisposableStack()
    const folder = strangersFolder(cleanup)
    const operator = await world.operate('POST', '/operators', { name: 'pages', role: 'administrator' })
    const env = {
      ...process.env,
      FORCE_COLOR: undefined,
      NODE_OPTIONS: undefined,
      PATH: strangersPath(),
      AEX_OPERATOR_URL: world.operatorUrl,
      AEX_OPERATOR_TOKEN: String(operator.body['token']),
    }
    const printed = new Map<string, string>()
    for (const page of PAGES) {
      const script = await scriptOf(page, world)
      assert.ok(script.includes('npx aex'), page)
      const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], { env, cwd: folder })
      printed.set(page, stdout)
    }
    assert.match(printed.get('README.md') ?? '', /"agent_id":"agent_planner"/u)
    assert.match(printed.get('docs/quickstart.md') ?? '', /The evidence holds/u)

    const [program = ''] = blocksOf('docs/quickstart.md', 'ts')
    writeFileSync(join(folder, 'first.ts'), program)
    const typed = await run('npx', ['node', '-C', 'source', 'first.ts'], { env, cwd: folder })
    assert.equal(typed.stdout, 'Agreed: Confirm delivery in week 13.\n')
  },
)
