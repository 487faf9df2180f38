import assert from 'node:assert/strict'
import { generateKeyPair } from '@agent-exchange/crypto'
import type { PublicKey as DirectoryKey } from '@agent-exchange/protocol'
import { startAgent, type TestAgent } from './agents.fixture.ts'
import { createContext } from './create-context.ts'
import { ExchangeError, type ExchangeErrorCode } from './errors.ts'
import { changed, startProxiedWorld, type ProxiedWorld } from './meddling-proxy.fixture.ts'
import { createMemoryPinStore } from './peers/memory-pin-store.ts'
import type { ConfirmKey, PeerDirectory } from './peers/peer-directory.ts'

export type Keys = DirectoryKey[]

/** Another company, as the first one sees it. */
export interface Met {
  readonly bolt: TestAgent
  readonly id: string
  /** The first company's view with the same pins, as a new process would have it. */
  see(confirmKey?: ConfirmKey): PeerDirectory
  readonly peers: PeerDirectory
}

/** A real exchange whose directory can be made to lie. */
export interface FalsifiedWorld extends ProxiedWorld {
  meet(confirmKey?: ConfirmKey): Promise<Met>
  falsify(agentId: string, lie: (keys: Keys) => Keys, members?: object): void
  /** Lets the directory say the truth again. */
  reset(): void
  /** A time before or after that of the exchange. */
  later(seconds: number): string
}

export async function startFalsifiedWorld(): Promise<FalsifiedWorld> {
  const proxied = await startProxiedWorld()
  const { world, proxy } = proxied
  const acme = await startAgent(world, 'acme', { baseUrl: proxy.url })
  return {
    ...proxied,
    async meet(asked) {
      const bolt = await startAgent(world, 'bolt', { baseUrl: proxy.url })
      const pins = createMemoryPinStore()
      const see = (confirmKey = asked) =>
        createContext({ ...acme.options, pins, ...(confirmKey && { confirmKey }) }).peers
      return { bolt, id: bolt.identity.agentId, see, peers: see() }
    },
    falsify(agentId, lie, members = {}) {
      const path = `/v1/directory/agents/${agentId}/keys`
      proxy.after = (request, reply) =>
        request.path === path
          ? changed(reply, (body) => ({ ...body, ...members, keys: lie(body['keys'] as Keys) }))
          : reply
    },
    reset: () => {
      proxy.after = (_, reply) => reply
      proxy.passed.length = 0
    },
    later: (seconds) => new Date(Date.parse(world.clock.now()) + seconds * 1_000).toISOString(),
  }
}

/** Changes the keys of one use. */
export const only = (use: string, change: (key: DirectoryKey) => DirectoryKey) => (keys: Keys) =>
  keys.map((key) => (key.use === use ? change(key) : key))

export const evilJwk = async () => (await generateKeyPair('signing')).publicKey.jwk

export const caught =
  (expected: ExchangeErrorCode, sentence = /./) =>
  (error: unknown) => {
    assert.ok(error instanceof ExchangeError, String(error))
    assert.equal(error.code, expected, error.message)
    assert.match(error.message, sentence)
    return true
  }

/** How the keys of an agent came to be trusted. */
export const pinnedBy = async (peers: PeerDirectory, id: string) =>
  ((await peers.pins(id))?.keys ?? []).map(({ use, by }) => `${use} ${by}`).toSorted()
