/** The driver of an agent in a gateway: `node -C source trials/conformance/agents/gateway-agent.ts FOLDER`. */

import { join } from 'node:path'
import { freePorts } from '@agent-exchange/testkit/free-ports'
import { createLog } from '@agent-exchange/server/create-log'
import { importAgent } from '../../../packages/gateway/src/agents/import-agent.ts'
import { readGatewayConfig } from '../../../packages/gateway/src/config/read-config.ts'
import { openGateway } from '../../../packages/gateway/src/startup/open-gateway.ts'
import { type RunningGateway, startGateway } from '../../../packages/gateway/src/startup/start-gateway.ts'
import { createInFolder, openPackage, registerFromFolder } from './agent-in-folder.ts'
import { answerLines, type Values } from './answer-lines.ts'

const [folder = ''] = process.argv.slice(2)
const agentFolder = join(folder, 'agent')
const WEBHOOKS = 'https://agent.example'
let agentId = ''
let gateway: RunningGateway | undefined

async function configuration() {
  const [port, admin, webhooks] = await freePorts(3)
  return readGatewayConfig({
    AEX_GATEWAY_DATA_DIR: join(folder, 'gateway'),
    AEX_GATEWAY_PORT: String(port),
    AEX_GATEWAY_ADMIN_PORT: String(admin),
    AEX_GATEWAY_WEBHOOK_PORT: String(webhooks),
    AEX_GATEWAY_WEBHOOK_URL: WEBHOOKS,
  })
}

async function running(): Promise<RunningGateway> {
  return (gateway ??= await startGateway(await configuration(), {
    log: createLog('silent'),
    limits: { gapPatienceMs: 100 },
  }))
}

async function listen(): Promise<object> {
  const { urls } = await running()
  return { url: `${WEBHOOKS}/agents/${agentId}`, connect: urls.webhooks }
}

async function receiver() {
  const found = (await running()).agents.receiverOf(agentId)
  if (!found) throw new Error('the gateway has not opened the agent')
  return found
}

async function stop(): Promise<void> {
  await gateway?.[Symbol.asyncDispose]()
  gateway = undefined
}

await answerLines({
  create(values: Values) {
    agentId = values.agent_id ?? ''
    return createInFolder(agentFolder, values)
  },
  /** In its folder, which then moves into the gateway. */
  async register() {
    await registerFromFolder(agentFolder, 'gateway')
    await using opened = await openGateway(await configuration(), { create: true })
    await importAgent(opened, { folder: agentFolder, passphrase: undefined, gateway: 'conformance' })
    return {}
  },
  listen,
  async refresh_keys() {
    await (await receiver()).keys.refresh()
    return {}
  },
  async poll() {
    await (await receiver()).poll()
    return {}
  },
  async handled() {
    const { db } = await running()
    const rows = await db<{ event_id: string }[]>`
      select event_id from agent_event where state = 'processed' order by finished_at, sequence`
    return { event_ids: rows.map(({ event_id }) => event_id) }
  },
  async open({ package_id = '' }) {
    const hosted = (await running()).agents.find(agentId)
    if (!hosted) throw new Error('the gateway has not opened the agent')
    return openPackage(hosted.agent, package_id)
  },
  async restart() {
    await stop()
    return listen()
  },
})
await stop()
