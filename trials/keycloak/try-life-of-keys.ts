import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '@agent-exchange/testkit/until'
import { createContext } from '../../packages/sdk/src/create-context.ts'
import type { TrialTools } from '../shared/trial-parts.ts'
import { assertAccepted, assertRefused, callWith, type Called } from './call-exchange.ts'
import { addSigningKey, removeFirstSigningKey } from './keycloak-admin.ts'
import { REALM, type KeycloakWorld } from './keycloak-world.ts'
import { inventedToken, readToken } from './token-parts.ts'

/** The exchange fetches the keys for an unknown key id at most this often. */
const COOLDOWN_MS = 5_000
/** Time limit of a fetch while Keycloak hangs, with some slack. */
const HANG_LIMIT_MS = 8_000
const TOKEN_SECONDS = 300
const SKEW_SECONDS = 30

/** Rotation of the realm's keys while both run. */
export async function tryRotation(given: KeycloakWorld, report: TrialTools['report']): Promise<void> {
  const { acme, admin } = given
  await report.step('keys', 'rotation while running', async () => {
    const old = await freshToken(given)
    await addSigningKey(admin, REALM)
    const rotated = await freshToken(given)
    assert.notEqual(readToken(rotated).header['kid'], readToken(old).header['kid'])
    const started = performance.now()
    await accepted(() => callWith(given, rotated), COOLDOWN_MS + 3_000)
    const milliseconds = Math.round(performance.now() - started)
    assertAccepted(await callWith(given, old))
    assertAccepted(await callWith(given, await acme.connection.token()))
    return `tokens of the new key work after ${milliseconds} ms, those of the old key still do`
  })
  await report.step('keys', 'removal of the old key', async () => {
    const kept = await freshToken(given)
    const old = await acme.connection.token()
    assertAccepted(await callWith(given, old))
    await removeFirstSigningKey(admin, REALM)
    await sleep(COOLDOWN_MS)
    // Any token with an unknown key makes the exchange fetch the keys; otherwise it does so every ten minutes.
    assertRefused(await callWith(given, inventedToken()), 'access_token_invalid', 'unknown_key')
    assertRefused(await callWith(given, old), 'access_token_invalid', 'unknown_key')
    assertAccepted(await callWith(given, kept))
    return 'its tokens are refused, also one that was verified before'
  })
}

/** Keycloak hangs, comes back, and ends. */
export async function tryOutage(given: KeycloakWorld, report: TrialTools['report']): Promise<void> {
  const { keycloak } = given
  await report.step('outage', 'Keycloak hangs (SIGSTOP)', async () => {
    const tokens = [await freshToken(given), await freshToken(given)] as const
    assertAccepted(await callWith(given, tokens[0]))
    keycloak.pause()
    try {
      // Neither a token that was verified before nor a new one needs Keycloak.
      for (const token of tokens) assertAccepted(await timed(() => callWith(given, token), 1_000))
      await sleep(COOLDOWN_MS)
      assertUnavailable(await timed(() => callWith(given, inventedToken()), HANG_LIMIT_MS))
      for (const token of tokens) assertAccepted(await timed(() => callWith(given, token), 1_000))
    } finally {
      keycloak.resume()
    }
    await accepted(async () => callWith(given, await freshToken(given)), 10_000)
    return 'known keys go on, an unknown key gets 503 with Retry-After'
  })
}

/** Keycloak ends for good. Run last. */
export async function tryEnd(given: KeycloakWorld, report: TrialTools['report']): Promise<void> {
  await report.step('outage', 'Keycloak ends (SIGKILL)', async () => {
    const token = await freshToken(given)
    await given.keycloak.kill()
    assertAccepted(await callWith(given, token))
    await sleep(COOLDOWN_MS)
    assertUnavailable(await callWith(given, inventedToken()))
    return 'known keys go on, an unknown key gets 503 with Retry-After'
  })
}

/** The clock of the exchange differs from that of Keycloak. */
export async function tryClocks(given: KeycloakWorld, report: TrialTools['report']): Promise<void> {
  const { world, acme, bolt } = given
  const at = (seconds: number) => world.clock.set(new Date(Date.now() + seconds * 1_000).toISOString())
  await report.step('clock', 'expiry and clock skew', async () => {
    const token = await freshToken(given)
    try {
      at(-120)
      assertAccepted(await callWith(given, token))
      at(TOKEN_SECONDS + SKEW_SECONDS - 10)
      assertAccepted(await callWith(given, token))
      at(TOKEN_SECONDS + SKEW_SECONDS + 5)
      assertRefused(await callWith(given, token), 'access_token_invalid', 'expired')
    } finally {
      at(0)
    }
    return `expired after ${TOKEN_SECONDS} s and ${SKEW_SECONDS} s of tolerance`
  })
  await report.step('clock', 'agents whose clock is wrong', async () => {
    for (const agent of [acme, bolt])
      for (const seconds of [-240, 240]) {
        const now = () => new Date(Date.now() + seconds * 1_000)
        const { connection } = createContext({ ...agent.options, now })
        const path = { agent_id: agent.identity.agentId }
        assert.equal((await connection.call('getAgent', { path })).agent_id, path.agent_id)
      }
    return 'four minutes early and late'
  })
}

/** A token of acme that no other call has used. */
function freshToken({ acme }: KeycloakWorld): Promise<string> {
  return createContext(acme.options).connection.token()
}

function assertUnavailable({ status, details, retryAfter }: Called): void {
  assert.deepEqual([status, retryAfter], [503, '2'])
  assert.equal((details as { reason?: string }).reason, 'issuer_unavailable')
}

async function accepted(call: () => Promise<Called>, limitMs: number): Promise<void> {
  await until(
    'a call is accepted',
    async () => {
      assertAccepted(await call())
      return true
    },
    { limitMs, pollMs: 200 },
  )
}

async function timed(call: () => Promise<Called>, limitMs: number): Promise<Called> {
  const started = performance.now()
  const called = await call()
  const milliseconds = performance.now() - started
  assert.ok(milliseconds < limitMs, `took ${Math.round(milliseconds)} ms`)
  return called
}
