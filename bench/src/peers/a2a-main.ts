/** An A2A agent on the same HTTP framework, in a separate process. Started by the area `peers`. */

import { TaskState, type AgentCard } from '@a2a-js/sdk'
import {
  AgentEvent,
  DefaultRequestHandler,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  ServerCallContext,
  type AgentExecutor,
} from '@a2a-js/sdk/server'
import Fastify from 'fastify'
import { answerCalls } from '../processes/calls.ts'

const VERSION = '1.0'

/** Stores the message as a pending task, the minimum that an agent does. */
const keeper: AgentExecutor = {
  async execute({ taskId, contextId, userMessage }, bus) {
    bus.publish(
      AgentEvent.task({
        id: taskId,
        contextId,
        status: {
          state: TaskState.TASK_STATE_INPUT_REQUIRED,
          message: undefined,
          timestamp: new Date().toISOString(),
        },
        artifacts: [],
        history: [userMessage],
        metadata: undefined,
      }),
    )
    bus.finished()
  },
  cancelTask: async () => undefined,
}

function cardFor(url: string): AgentCard {
  return {
    name: 'bench',
    description: 'Stores messages.',
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', tenant: '', protocolVersion: VERSION }],
    provider: undefined,
    version: '1.0.0',
    capabilities: { extensions: [] },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ['application/json'],
    defaultOutputModes: ['application/json'],
    skills: [],
    signatures: [],
  }
}

const calls = {
  async start(port: number): Promise<void> {
    const url = `http://127.0.0.1:${port}/`
    const handler = new JsonRpcTransportHandler(
      new DefaultRequestHandler(cardFor(url), new InMemoryTaskStore(), keeper),
    )
    const app = Fastify({ bodyLimit: 2_097_152 })
    app.post('/', async ({ body }, reply) => {
      const context = new ServerCallContext({ requestedVersion: VERSION })
      const answer = await handler.handle(body as Record<string, unknown>, context)
      if ('error' in answer) return reply.code(500).send(answer)
      return reply.send(answer)
    })
    await app.listen({ host: '127.0.0.1', port })
  },
}

export type A2aCalls = typeof calls

answerCalls(calls)
