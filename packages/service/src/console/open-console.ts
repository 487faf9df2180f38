import type { FastifyInstance } from 'fastify'
import { createSingleSignOn } from '@agent-exchange/server/sign-on'
import type { Config } from '../config/index.ts'
import type { OperatorDependencies } from '../operator/dependencies.ts'
import { SESSION_LIMITS as limits } from '../operator/session-limits.ts'
import { createSessions } from '../operator/sessions.ts'
import { createSignInLimit } from '../operator/sign-in-limit.ts'
import { mountConsole } from './mount-console.ts'

interface ConsoleSettings {
  readonly config: Pick<
    Config,
    'operatorHost' | 'operatorPort' | 'operatorPublicUrl' | 'operatorSignOn' | 'tls'
  >
  /** 32 bytes that all replicas share. */
  readonly key: Uint8Array
}

/** Puts the console on the operator listener. */
export function openConsole(
  server: FastifyInstance,
  operator: OperatorDependencies,
  { config, key }: ConsoleSettings,
): void {
  const { db, context } = operator
  const { clock, newId, macKey } = context
  mountConsole(server, {
    operator,
    sessions: createSessions({ db, clock, newId, limits }),
    limitSignIn: createSignInLimit({ db, clock, macKey, limits }),
    signOn: config.operatorSignOn && createSingleSignOn(config.operatorSignOn, clock.monotonicMilliseconds),
    key,
    address: {
      host: config.operatorHost,
      port: config.operatorPort,
      tls: config.tls !== undefined,
      publicUrl: config.operatorPublicUrl,
    },
  })
}
