import {
  draftSkillManifest,
  startWorld,
  testAuthority,
  type World,
  type WorldOptions,
} from '@agent-exchange/testkit'
import type { Hooks } from '../../packages/conformance/src/run/hooks.ts'
import type {
  OrganizationSettings,
  ServiceUnderTest,
} from '../../packages/conformance/src/service/judge-service.ts'
import type { ReceiverOptions } from '../../packages/conformance/src/service/webhook-receiver.ts'

export interface OwnService extends AsyncDisposable {
  readonly world: World
  /** With new organizations, so that runs do not share quotas and streams. */
  underTest(broken?: Pick<ReceiverOptions, 'alter' | 'answer'>): Promise<ServiceUnderTest>
}

/** Requests a second: our own machine needs no care. */
export const PACE = 5_000

/** Our service on loopback, with every hook. */
export async function startOwnService(options: WorldOptions = {}): Promise<OwnService> {
  const authority = await testAuthority()
  const { certificate, key } = await authority.server()
  const world = await startWorld({
    ...options,
    config: {
      role: 'all',
      webhook: { ca: authority.certificate, allowPrivate: true },
      ...options.config,
    },
  })
  let clockAhead = 0
  const hooks: Hooks = {
    ...operatorHooks(world),
    async advance_clock({ seconds }) {
      world.clock.advance(Number(seconds))
      clockAhead += Number(seconds) * 1_000
      await Promise.resolve()
    },
  }
  const receiver = { ...LOOPBACK_RECEIVER, certificate, key }
  return {
    world,
    underTest: async (broken = {}) => ({
      baseUrl: world.url,
      organizations: await threeOrganizations(world),
      webhooks: { ...receiver, ...broken },
      hooks,
      clockAhead,
    }),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  }
}

export const LOOPBACK_RECEIVER = {
  url: 'https://localhost:0',
  listen: { host: '127.0.0.1', port: 0 },
} as const

/** New ones, which only the kit uses. */
export async function threeOrganizations(world: World): Promise<ServiceUnderTest['organizations']> {
  const organization = async (name: string): Promise<OrganizationSettings> => {
    const { organizationId, clientId, clientKey } = await world.organization(name, { unregistered: true })
    return { organizationId, clientId, privateJwk: clientKey.privateJwk }
  }
  return [await organization('a'), await organization('b'), await organization('c')]
}

/** What only an operator can do, by the operator API. */
export function operatorHooks(world: World): Hooks {
  const operate = async (path: string, body: object): Promise<void> => {
    const { status, body: answer } = await world.operate('POST', path, body)
    if (status >= 300) throw new Error(`${path}: ${JSON.stringify(answer)}`)
  }
  return {
    approve_connector: ({ organization_id, connector_id }) =>
      operate('/connectors', {
        organization_id,
        connector_id,
        participant_id: `did:web:${organization_id}`,
        endpoint: 'https://connector.example/protocol',
      }),
    publish_skill: ({ skill_id = '', version = '' }) => operate('/skills', release(skill_id, version)),
    replay_delivery: ({ delivery_id, reason }) => operate(`/deliveries/${delivery_id}/replay`, { reason }),
    rotate_webhook_key: () => operate('/keys/rotate', {}),
    revoke_webhook_key: ({ key_id }) => operate(`/keys/${key_id}/revoke`, { reason: 'conformance' }),
  }
}

function release(skill_id: string, version: string) {
  const manifest = draftSkillManifest({ skill_id, version })
  return { manifest, artifact: Buffer.from([0xff, 0x00, 0xc3, 0x28]).toString('base64') }
}
