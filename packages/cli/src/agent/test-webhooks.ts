import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateKeyPair, importPrivateJwk, parseStrictJson, signWebhook } from '@agent-exchange/crypto'
import { shapeValidator, type NotificationEnvelope, type Shape } from '@agent-exchange/protocol'
import { createWebhookHandler } from '@agent-exchange/sdk/internal'
import { MemoryInbox, type WebhookHandler } from '@agent-exchange/sdk'
import { Type } from 'typebox'
import { CommandFailure } from '../failure.ts'
import { folderStep } from './next-step.ts'

const text = Type.String({ minLength: 1 })

/**
 * Test webhooks: `listen --test` makes a key for its own lifetime, and `trigger` signs with it. The receiver of a real
 * exchange never reads this file, so a test key opens nothing.
 */
const testKeyFile = Type.Object(
  { url: text, key_id: text, private_jwk: Type.Object({}) },
  { additionalProperties: false },
)
type TestKey = Shape<typeof testKeyFile>
const testKey = shapeValidator(testKeyFile, 'CLI')
const OWNER_ONLY = 0o600
const listenStep = (dir: string) => folderStep({ dir }, 'listen', '--test')
const fileIn = (dir: string) => join(dir, 'test-webhook-key.json')

export interface TestReceiverOptions {
  readonly dir: string
  readonly url: string
  readonly organizationId: string
  readonly onEvent: (event: NotificationEnvelope) => void
  readonly onRejected: NonNullable<Parameters<typeof createWebhookHandler>[0]['onRejected']>
}

/** A handler that accepts nothing but test webhooks. Disposing of it throws the key away. */
export async function createTestReceiver(
  options: TestReceiverOptions,
): Promise<Disposable & { readonly handler: WebhookHandler }> {
  const { dir, url, organizationId, onEvent, onRejected } = options
  const { publicKey, privateJwk } = await generateKeyPair('signing')
  const keyId = `key_test_${crypto.randomUUID()}`
  const key: TestKey = { url, key_id: keyId, private_jwk: { ...privateJwk } }
  const file = fileIn(dir)
  rmSync(file, { force: true })
  writeFileSync(file, `${JSON.stringify(key)}\n`, { mode: OWNER_ONLY, flag: 'wx' })
  const validFrom = new Date(Date.now() - 1_000).toISOString()
  const handler = createWebhookHandler({
    organizationId,
    publicUrl: url,
    keys: {
      find: async (id) => (id === keyId ? { publicKey, status: 'active', valid_from: validFrom } : undefined),
    },
    inbox: new MemoryInbox(),
    now: () => new Date(),
    onRejected,
    onStored: (event, outcome) => {
      if (outcome === 'new') onEvent(event)
    },
  })
  return { handler, [Symbol.dispose]: () => rmSync(file, { force: true }) }
}

export interface TestDelivery {
  readonly dir: string
  readonly event: NotificationEnvelope
  /** Signs with another key under the same id, to see a refusal. */
  readonly forge: boolean
}

/** Sends an event as the exchange would, signed with the test key. Returns the status. */
export async function sendTestWebhook({ dir, event, forge }: TestDelivery): Promise<number> {
  const { url, key_id: keyId, private_jwk: jwk } = readKey(dir)
  const key = forge
    ? (await generateKeyPair('signing')).privateKey
    : await importPrivateJwk(jwk, { use: 'signing' })
  const body = new TextEncoder().encode(JSON.stringify(event))
  const delivery = {
    url,
    body,
    deliveryId: `dlv_test_${event.sequence}`,
    eventId: event.event_id,
    attempt: 1,
  }
  const headers = await signWebhook(delivery, { key, keyId, created: new Date() })
  const answer = await fetch(url, {
    method: 'POST',
    headers: { ...headers },
    body,
    redirect: 'manual',
  }).catch(() => {
    throw new CommandFailure(`Nothing answers at ${url}. Start it again: ${listenStep(dir)}`)
  })
  await answer.body?.cancel()
  return answer.status
}

function readKey(dir: string): TestKey {
  let content: unknown
  try {
    content = parseStrictJson(readFileSync(fileIn(dir), 'utf8'))
  } catch {
    throw new CommandFailure(
      `No listener waits for test events. Start one in another terminal: ${listenStep(dir)}`,
    )
  }
  if (testKey.accepts(content)) return content
  throw new CommandFailure(`${fileIn(dir)} is damaged. Start the listener again: ${listenStep(dir)}`)
}
