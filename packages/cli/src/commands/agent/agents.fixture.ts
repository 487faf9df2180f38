import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PolicyEnvelope } from '@agent-exchange/protocol'
import { newObject } from '@agent-exchange/sdk/internal'
import type { SentPackage } from '@agent-exchange/sdk'
import { connectFolder, createAgentFolder, setExchangeAccess } from '@agent-exchange/sdk/node'
import type { World } from '@agent-exchange/testkit'
import { aexHere } from '../../aex-here.fixture.ts'

/** A folder that goes with the test. */
export function temporaryFolder(): Disposable & { readonly path: (name: string) => string } {
  const folder = mkdtempSync(join(tmpdir(), 'aex-agent-'))
  return {
    path: (name) => join(folder, name),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** The client id that the operator of a world gives to the agent in a folder, with its organization made before. */
export async function letIn(world: World, name: string, dir: string): Promise<string> {
  await world.operate('POST', '/organizations', { organization_id: `org_${name}`, name })
  const { body } = await world.operate('POST', '/clients', {
    organization_id: `org_${name}`,
    public_jwk: JSON.parse(readFileSync(join(dir, 'client-public-key.json'), 'utf8')) as object,
  })
  return String(body['client_id'])
}

/** An agent in a folder that knows its exchange. Registered by default. */
export async function madeAgent(
  world: World,
  name: string,
  dir: string,
  { register = true, url = world.url } = {},
): Promise<string> {
  await createAgentFolder(dir, { identity: { organizationId: `org_${name}`, agentId: `agent_${name}` } })
  await setExchangeAccess(dir, { baseUrl: url, clientId: await letIn(world, name, dir) })
  if (register) {
    const { code, stderr } = await aexHere('agent', 'register', '--dir', dir)
    if (code !== 0) throw new Error(stderr)
  }
  return dir
}

/** A package of the agent in one folder for that in another, by the SDK: the console stays free. */
export async function packageBetween(
  from: string,
  to: string,
): Promise<SentPackage & { readonly policy: PolicyEnvelope }> {
  await using sender = await connectFolder(from)
  await using recipient = await connectFolder(to)
  const terms = { by: sender.identity, to: recipient.identity.organizationId, now: new Date() }
  const policy = newObject('policy_envelope', terms)
  const object = newObject('reasoning_package', { ...terms, policyId: policy.policy_id })
  const skill = { id: 'skill_alignment', version: '1.0.0' }
  return { ...(await sender.send({ object, policy, to: recipient.identity, skill })), policy }
}
