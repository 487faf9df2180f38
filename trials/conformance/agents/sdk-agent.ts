/** The driver of an agent of our SDK: `node -C source trials/conformance/agents/sdk-agent.ts FOLDER`. */

import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Receiver } from '@agent-exchange/sdk'
import { connectFolder, type FolderAgent, toNodeListener } from '@agent-exchange/sdk/node'
import { createInFolder, openPackage, registerFromFolder } from './agent-in-folder.ts'
import { answerLines } from './answer-lines.ts'

const [folder = ''] = process.argv.slice(2)
const URL_OF_AGENT = 'https://agent.example/hooks/in'
const handled: string[] = []
let agent: FolderAgent | undefined
let receiver: Receiver | undefined
let server: Server | undefined

const connected = async () => (agent ??= await connectFolder(folder))

async function receiving(): Promise<Receiver> {
  if (receiver) return receiver
  const { receiver: create, inbox } = await connected()
  receiver = create({
    inbox: inbox(),
    handle: async ({ event_id }) => {
      handled.push(event_id)
      await Promise.resolve()
    },
    publicUrl: URL_OF_AGENT,
    limits: { gapPatienceMs: 100 },
  })
  await receiver.start()
  return receiver
}

async function listen() {
  const { handler } = await receiving()
  server = createServer(toNodeListener(handler))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: URL_OF_AGENT, connect: `http://127.0.0.1:${port}` }
}

/** Everything in memory is gone; what the agent keeps is in its folder. */
async function stop(): Promise<void> {
  server?.closeAllConnections()
  server?.close()
  await receiver?.stop()
  await agent?.[Symbol.asyncDispose]()
  server = receiver = agent = undefined
}

await answerLines({
  create: (values) => createInFolder(folder, values),
  register: () => registerFromFolder(folder, 'sdk'),
  listen,
  async refresh_keys() {
    await (await receiving()).keys.refresh()
    return {}
  },
  async poll() {
    await (await receiving()).poll()
    return {}
  },
  handled: async () => Promise.resolve({ event_ids: handled }),
  open: async ({ package_id = '' }) => openPackage(await connected(), package_id),
  async restart() {
    await stop()
    return listen()
  },
})
await stop()
