import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request as startRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { DEFAULT_PROFILE } from '@agent-exchange/protocol'
import { until } from '@agent-exchange/testkit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { createBodyBudget, holdBody } from './body-budget.ts'
import { bodyReceiver } from './receive-body.ts'

const STALL_SECONDS = 600
const BODY_BYTES = 10

for (const [name, body] of [
  ['a body', 'x'],
  ['a whole body', 'x'.repeat(BODY_BYTES)],
] as const)
  test(`[O-14] ${name} whose sender left before it was read is refused at once, without waiting for its next bytes`, async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const outgoing = startRequest({ port, host: '127.0.0.1', method: 'POST' }).on('error', () => undefined)
    outgoing.setHeader('Content-Length', BODY_BYTES)
    outgoing.write(body)
    const [payload, raw] = (await once(server, 'request')) as [IncomingMessage, FastifyReply['raw']]
    const isWhole = body.length === BODY_BYTES
    await until('the body', () => payload.complete === isWhole)
    const closed = new Promise((resolve) => payload.on('error', () => undefined).once('close', resolve))
    outgoing.destroy()
    await closed
    server.close()

    const request = { method: 'POST', routeOptions: { bodyLimit: 100 } } as FastifyRequest
    holdBody(createBodyBudget({ total: 100, perHolder: 100 }), 'one', request, { raw } as FastifyReply)
    const limits = { ...DEFAULT_PROFILE['O-14'], body_stall_seconds: STALL_SECONDS }
    const receive = bodyReceiver({ ...DEFAULT_PROFILE, 'O-14': limits })
    await assert.rejects(receive(request, payload), { code: 'malformed_request' })
  })
