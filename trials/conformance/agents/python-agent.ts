/** The driver of the receiver and opener in Python: `node -C source trials/conformance/agents/python-agent.ts FOLDER`. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { findTools } from '../../../interop/curl-agent/trial/tools.ts'
import { PACKAGES } from '../../../interop/python-trial/place.ts'
import { createInFolder, registerFromFolder } from './agent-in-folder.ts'
import { answerLines } from './answer-lines.ts'

const [folder = ''] = process.argv.slice(2)
const URL_OF_AGENT = 'https://agent.example/hooks/in'
const LIMIT_MS = 60_000
const tools = findTools()
if ('missing' in tools) throw new Error(`there is no ${tools.missing}`)
const { python } = tools
const env = { ...process.env, PYTHONPATH: PACKAGES, no_proxy: '*' }
let receiver: ChildProcess | undefined
let opener: ChildProcess | undefined
let answers: AsyncIterator<string> | undefined

async function listen(): Promise<object> {
  const words = ['-B', '-m', 'agent_exchange.receiver', '--dir', folder, '--port', '0']
  const child = spawn(python, [...words, '--public-url', URL_OF_AGENT], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  receiver = child
  const [line] = (await once(createInterface({ input: child.stdout }), 'line', {
    signal: AbortSignal.timeout(LIMIT_MS),
  })) as [string]
  return { url: URL_OF_AGENT, connect: `http://127.0.0.1:${line.replace('listening on ', '')}` }
}

async function stop(): Promise<void> {
  if (receiver?.exitCode !== null) return
  receiver.kill()
  await once(receiver, 'exit')
}

await answerLines({
  create: (values) => createInFolder(folder, values),
  /** The example reads a folder that `aex agent register` has registered. */
  register: () => registerFromFolder(folder, 'python'),
  listen,
  /** It reads the directory when it starts. */
  async refresh_keys() {
    return restart()
  },
  restart,
  async open({ package_id = '' }) {
    opener ??= spawn(python, ['-B', join(PACKAGES, 'open_lines.py'), folder], {
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const { stdin, stdout } = opener
    if (!stdin || !stdout) throw new Error('the opener has no pipes')
    answers ??= createInterface({ input: stdout })[Symbol.asyncIterator]()
    stdin.write(`${package_id}\n`)
    const { value, done } = await answers.next()
    if (done) throw new Error('the opener ended')
    return JSON.parse(value) as object
  },
})
opener?.stdin?.end()
await stop()

async function restart(): Promise<object> {
  await stop()
  return listen()
}
