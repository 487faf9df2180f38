import { encodeBase64url } from '@agent-exchange/crypto'
import { signDisclosure, type Disclosure } from '@agent-exchange/log'
import type { AgentContext } from '../context.ts'
import { fetchContent } from './fetch-content.ts'
import type { OpenDependencies } from './open-input.ts'
import { currentSigningKey } from '../agent-keys/own-keys.ts'
import { readEnvelope, unsealEnvelope } from './verify-content.ts'

/**
 * What a third party needs to read a package that this agent sent or received: the envelope as the sender signed it, and
 * the key of this one content. Whoever gets it can read the content. No private key leaves the store.
 */
export async function disclosePackage(
  context: AgentContext,
  packageId: string,
  deps: OpenDependencies = {},
): Promise<Disclosure> {
  const { connection, identity } = context
  const resource = await connection.call('getPackage', { path: { package_id: packageId } })
  const fetched = await fetchContent(context, resource, deps)
  try {
    const { contentKey } = await unsealEnvelope(context, readEnvelope(context, fetched.bytes, resource))
    const envelope = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(fetched.bytes)
    const disclosedBy = { organization_id: identity.organizationId, agent_id: identity.agentId }
    const disclosed = { packageId, envelope, contentKey, disclosedBy }
    return {
      envelope,
      content_key: encodeBase64url(contentKey),
      disclosed_by: disclosedBy,
      signature: await signDisclosure(disclosed, await currentSigningKey(context)),
    }
  } finally {
    await fetched.finish()
  }
}
