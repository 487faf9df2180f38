import type { Check } from '../../run/check.ts'
import { holds } from '../../run/expect.ts'
import { isObject } from '../../wire/wire.ts'
import type { AgentContext } from '../agent-context.ts'

type AgentCheck = Check<AgentContext>

const PRIVATE_MEMBER = /"(?:d|p|q|dp|dq|qi|k)":"[\w-]{20,}"/u

/** These examine all requests of the run, so they run last. */
export const REQUEST_CHECKS: readonly AgentCheck[] = [
  {
    name: 'agent/requests/headers',
    ids: ['API-03'],
    title: 'every call has X-Correlation-ID, every mutation Idempotency-Key',
    last: true,
    async run({ exchange }) {
      for (const { method, path, headers } of exchange.requests) {
        holds((headers['x-correlation-id'] ?? '') !== '', `${method} ${path} has no X-Correlation-ID`)
        const isMutation = method !== 'GET' && method !== 'HEAD'
        holds(
          !isMutation || (headers['idempotency-key'] ?? '') !== '',
          `${method} ${path} has no Idempotency-Key`,
        )
      }
      await Promise.resolve()
    },
  },
  {
    name: 'agent/requests/idempotency',
    ids: ['API-05'],
    title: 'an idempotency key is not used again with other content',
    last: true,
    async run({ exchange }) {
      const seen = new Map<string, string>()
      for (const { method, path, headers, body } of exchange.requests) {
        const key = headers['idempotency-key']
        if (method === 'GET' || key === undefined) continue
        const scope = `${path} ${key}`
        const content = JSON.stringify(body)
        const before = seen.get(scope)
        holds(
          before === undefined || before === content,
          `${method} ${path} repeats an Idempotency-Key with other content`,
        )
        seen.set(scope, content)
      }
      await Promise.resolve()
    },
  },
  {
    name: 'agent/requests/token',
    ids: ['API-08'],
    title: 'every call carries an access token in its header, and none in its address',
    last: true,
    async run({ exchange }) {
      for (const { method, path, headers } of exchange.requests)
        holds(
          /^bearer \S+$/iu.test(headers['authorization'] ?? ''),
          `${method} ${path} carries no access token`,
        )
      await Promise.resolve()
    },
  },
  {
    name: 'agent/requests/private-keys',
    ids: ['AUTH-04'],
    title: 'no private key leaves the agent',
    last: true,
    async run({ exchange }) {
      for (const { method, path, body } of exchange.requests)
        holds(!PRIVATE_MEMBER.test(JSON.stringify(body)), `${method} ${path} sends a private key`)
      await Promise.resolve()
    },
  },
  {
    name: 'agent/requests/registration',
    ids: ['ID-01'],
    title: 'the registration names organization, agent, versions and public P-256 keys for both uses',
    async run({ exchange }) {
      const registration = exchange.registration() ?? {}
      const members = ['organization_id', 'agent_id', 'implementation', 'implementation_version']
      for (const name of members)
        holds(
          typeof registration[name] === 'string' && registration[name] !== '',
          `the registration has no ${name}`,
        )
      const versions: unknown = registration['protocol_versions']
      holds(Array.isArray(versions) && versions.includes('svc/1.0'), 'the registration lacks svc/1.0')
      const keys: unknown = registration['keys']
      const list = Array.isArray(keys) ? keys.filter(isObject) : []
      for (const use of ['signing', 'encryption']) {
        const key = list.find((each) => each['use'] === use)
        holds(key !== undefined, `the registration has no key for ${use}`)
        const { public_key: jwk, format } = key
        holds(
          format === 'jwk' && isObject(jwk) && jwk['crv'] === 'P-256',
          `the key for ${use} is no P-256 JWK`,
        )
      }
      await Promise.resolve()
    },
  },
]
