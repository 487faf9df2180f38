import { once } from 'node:events'
import type { Server } from 'node:http'
import { toNodeListener } from '@agent-exchange/sdk/node'
import { createListener, type ListenerOptions } from '../listeners/create-listener.ts'
import type { AgentHosting } from './host-agents.ts'

export interface WebhookListenerOptions extends ListenerOptions {
  readonly host: string
  readonly port: number
}

const PATH = /^\/agents\/(agent_[A-Za-z0-9_-]{1,128})$/u

/** Takes the deliveries of all agents, each at a path of its own. Every instance has one. */
export async function listenForWebhooks(
  agents: Pick<AgentHosting, 'receiverOf'>,
  { host, port, ...options }: WebhookListenerOptions,
): Promise<Server> {
  const listener = toNodeListener(async (request) => {
    const [, agentId = ''] = PATH.exec(new URL(request.url).pathname) ?? []
    const receiver = agents.receiverOf(agentId)
    return receiver ? receiver.handler(request) : new Response(null, { status: 404 })
  })
  const server = createListener(listener, options)
  server.listen({ host, port })
  await once(server, 'listening')
  return server
}
