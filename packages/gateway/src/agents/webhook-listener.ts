import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { toNodeListener } from '@agent-exchange/sdk/node'
import { listenerOptions } from '@agent-exchange/server/listener-options'
import type { AgentHosting } from './host-agents.ts'

export interface WebhookListenerOptions {
  readonly host: string
  readonly port: number
  readonly tls: { readonly certificate: string; readonly key: string } | undefined
}

const PATH = /^\/agents\/(agent_[A-Za-z0-9_-]{1,128})$/u

/** Takes the deliveries of all agents, each at a path of its own. Every instance has one. */
export async function listenForWebhooks(
  agents: Pick<AgentHosting, 'receiverOf'>,
  { host, port, tls }: WebhookListenerOptions,
): Promise<Server> {
  const listener = toNodeListener(async (request) => {
    const [, agentId = ''] = PATH.exec(new URL(request.url).pathname) ?? []
    const receiver = agents.receiverOf(agentId)
    return receiver ? receiver.handler(request) : new Response(null, { status: 404 })
  })
  const { http, https } = listenerOptions(tls)
  const server = https ? createTlsServer(https, listener) : createServer(http, listener)
  server.listen({ host, port })
  await once(server, 'listening')
  return server
}
