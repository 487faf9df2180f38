import { createPublicKey, type JsonWebKey, verify } from 'node:crypto'
import { canonicalize } from '@agent-exchange/crypto'
import type { Check } from '../../run/check.ts'
import { holds, same } from '../../run/expect.ts'
import { isObject } from '../../wire/wire.ts'
import type { AgentContext } from '../agent-context.ts'
import type { AgentRequest } from '../agent-request.ts'
import { OPENED, REFUSED } from './opening-attacks.ts'

type AgentCheck = Check<AgentContext>

const receiptsOf = ({ packages }: AgentContext, packageId: string) => packages.receipts.get(packageId) ?? []

const refusals = REFUSED.map(({ name, ids, title, scripts, open }): AgentCheck => ({
  name: `agent/opening/refuses/${name}`,
  ids,
  title,
  async run(context) {
    const all = scripts(context.packages)
    for (const [number, script] of all.entries()) {
      const which = `case ${number + 1} of ${all.length}`
      const { packageId } = await context.packages.add(script)
      const { opened } = await context.driver.ask('open', { package_id: packageId })
      holds(opened === false, `not so (${which}): the driver answered opened: ${JSON.stringify(opened)}`)
      const states = receiptsOf(context, packageId).map(({ state }) => state)
      holds(!states.includes('opened'), `the agent refused (${which}) and signed that it opened the package`)
      context.note('O-34', `${title}: receipts ${states.join(', ') || 'none'}`)
    }
    if (!open) return
    const { packageId } = await context.packages.add(open.script)
    const { opened } = await context.driver.ask('open', { package_id: packageId })
    context.note(open.point, `${open.what} is ${opened === true ? 'opened' : 'refused'}`)
  },
}))

const openings = OPENED.map(({ name, ids, title, scripts }): AgentCheck => ({
  name: `agent/opening/opens/${name}`,
  ids: [...new Set([...ids, 'PKG-08'])],
  title,
  async run(context) {
    for (const script of scripts(context.packages)) {
      const { packageId, digest, object } = await context.packages.add(script)
      const answer = await context.driver.ask('open', { package_id: packageId })
      const why = typeof answer['reason'] === 'string' ? `: ${answer['reason']}` : ''
      holds(answer['opened'] === true, `not so: the agent refused an honest package${why}`, ids)
      same(answer['object'], object, 'the object that the agent opened')
      const receipts = receiptsOf(context, packageId)
      const states = receipts.map(({ state }) => state)
      holds(states.includes('opened'), 'the agent opened a package and sent no receipt of it', ['PKG-08'])
      for (const receipt of receipts) requireReceipt(context, { packageId, digest }, receipt)
    }
  },
}))

const DIGEST = /^sha-256=:[A-Za-z0-9+/]{43}=:$/u
const STATES = new Set<unknown>(['received', 'opened', 'rejected', 'failed'])

/** A receipt of its own form, signed with a key that the agent registered. */
function requireReceipt(
  { exchange, note }: AgentContext,
  { packageId, digest }: { readonly packageId: string; readonly digest: string },
  receipt: AgentRequest['body'],
): void {
  const of = ['PKG-08']
  holds(STATES.has(receipt['state']), `a receipt has the state ${JSON.stringify(receipt['state'])}`, of)
  const { package_digest: named } = receipt
  holds(typeof named === 'string' && DIGEST.test(named), 'the package_digest of a receipt is no digest', of)
  // Which digest it repeats is an open point.
  note('O-23', `package_digest is ${named === digest ? 'the content_digest' : 'another digest'}`)
  const registration = exchange.registration() ?? {}
  holds(receipt['actor_agent_id'] === registration['agent_id'], 'a receipt names another agent', of)
  const { signature, ...body } = receipt
  const { key_id: keyId, signature: text } = isObject(signature) ? signature : {}
  const keys = Array.isArray(registration['keys']) ? registration['keys'].filter(isObject) : []
  const key = keys.find((each) => each['key_id'] === keyId && each['use'] === 'signing')
  holds(key !== undefined, 'a receipt is signed with a key that the agent did not register', of)
  const publicKey = createPublicKey({ key: key['public_key'] as JsonWebKey, format: 'jwk' })
  // What the signature covers is an open point (O-22): the body, with or without the package id.
  const isSigned = [body, { ...body, package_id: packageId }].some((signed) =>
    verify(
      'sha256',
      Buffer.from(canonicalize(signed)),
      { key: publicKey, dsaEncoding: 'ieee-p1363' },
      Buffer.from(String(text), 'base64url'),
    ),
  )
  holds(isSigned, 'the signature of a receipt does not verify', of)
}

export const OPENING_CHECKS: readonly AgentCheck[] = [...openings, ...refusals]
