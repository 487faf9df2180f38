/** Two agents in one process, on the SDK with its folders: SQLite for outbox and inbox. */

import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { draftObject } from '@agent-exchange/mcp/content'
import type { SendInput } from '@agent-exchange/sdk'
import { newObject } from '@agent-exchange/sdk/internal'
import { connectFolder, joinExchange, toNodeListener, type FolderAgent } from '@agent-exchange/sdk/node'
import { answerCalls } from '../processes/calls.ts'
import { inLanes } from './lanes.ts'
import { REGISTRATION, SKILL } from './pair.ts'

interface PairTerms {
  readonly folder: string
  readonly invitations: { readonly asking: string; readonly handling: string }
  readonly tls: { readonly certificate: string; readonly key: string }
}

let asking: FolderAgent | undefined
let handling: FolderAgent | undefined
let handled = 0
let onHandled: () => void = () => undefined

async function joined(path: string, invitation: string): Promise<FolderAgent> {
  await joinExchange(path, { invitation, registration: REGISTRATION })
  return connectFolder(path)
}

function count(): void {
  handled += 1
  onHandled()
}

async function open({ folder, invitations, tls }: PairTerms): Promise<void> {
  asking = await joined(join(folder, 'asking'), invitations.asking)
  handling = await joined(join(folder, 'handling'), invitations.handling)
  // Both receive events, as both agents of a gateway do.
  for (const agent of [asking, handling]) {
    const receiver = agent.onPackage(async () => count())
    await receiver.start()
    const server = createServer({ cert: tls.certificate, key: tls.key }, toNodeListener(receiver.handler))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    await receiver.ensureEndpoint(`https://localhost:${(server.address() as AddressInfo).port}/events`)
  }
}

/** Sends packages and handles them; returns packages per second. */
async function sendAndHandle(packages: number, content: Readonly<Record<string, unknown>>): Promise<number> {
  if (!asking || !handling) throw new Error('the agents are not open')
  const [sender, to] = [asking, handling.identity]
  const terms = { by: sender.identity, to: to.organizationId, now: new Date() }
  const policy = newObject('policy_envelope', terms)
  handled = 0
  const { promise: all, resolve } = Promise.withResolvers<undefined>()
  onHandled = () => {
    if (handled === packages) resolve(undefined)
  }
  const start = performance.now()
  await inLanes(packages, async () => {
    const object = draftObject('reasoning_package', content, { ...terms, policy })
    await sender.send({ object, policy, to, skill: SKILL } as unknown as SendInput)
  })
  await all
  return (packages * 1_000) / (performance.now() - start)
}

const calls = { open, sendAndHandle }
export type SdkPairCalls = typeof calls
answerCalls(calls)
