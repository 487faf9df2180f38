import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  contentKeyCommitment,
  decodeBase64url,
  encodeBase64url,
  writeAdditionalData,
} from '@agent-exchange/crypto'
import {
  renderCapsuleHtml,
  renderCapsuleText,
  signDisclosure,
  verifyCapsule,
  type CapsuleResult,
  type CapsuleV3,
  type Disclosure,
} from '@agent-exchange/log'
import { QUICK_LOG, startWorld } from '@agent-exchange/testkit'
import { startAgents, type TestAgent } from '../agents.fixture.ts'
import { disclosePackage } from '../open/disclose-package.ts'
import { sendCrafted } from '../send/crafted.fixture.ts'
import { inputFor } from '../send/drafts.fixture.ts'
import { createMemoryOutbox } from '../outbox/memory-outbox.ts'
import { openPackage } from '../open/open-package.ts'
import { currentSigningKey } from '../agent-keys/own-keys.ts'
import { sendPackage } from '../send/send-package.ts'
import { readCapsule } from './read-capsule.ts'

const world = await startWorld({ profile: QUICK_LOG, config: { role: 'all' } })
after(() => world[Symbol.asyncDispose]())
const { acme, bolt, cog } = await startAgents(world, 'acme', 'bolt', 'cog')

const sent = await sendPackage(acme, inputFor(acme, bolt), { outbox: createMemoryOutbox() })
const { object } = await openPackage(bolt, sent.packageId)
const other = await sendPackage(acme, inputFor(acme, bolt, { thread_id: sent.threadId }), {
  outbox: createMemoryOutbox(),
})
const plain = await sendCrafted(acme, bolt, { aad: new TextEncoder().encode('of another implementation') })

async function capsuleOf(agent: TestAgent, packageId: string, disclosure: Disclosure): Promise<CapsuleV3> {
  const disclosures = new Map([[packageId, disclosure]])
  const { capsule } = await readCapsule(agent, { packageId }, { disclosures })
  assert.ok(capsule.format === 'aex-evidence/3')
  return capsule
}

const disclosedIn = ({ packages }: CapsuleResult) => packages.find(({ disclosed }) => disclosed)?.disclosed
const codes = ({ contradictions }: CapsuleResult) => contradictions.map(({ code }) => code)

test('[AUD-03] either party shows the content, and nobody needs a private key to read it', async () => {
  for (const agent of [acme, bolt]) {
    const disclosure = await disclosePackage(agent, sent.packageId)
    const capsule = await capsuleOf(agent, sent.packageId, disclosure)
    assert.doesNotMatch(JSON.stringify(capsule), /"d":/u)
    const result = await verifyCapsule(JSON.parse(JSON.stringify(capsule)))
    assert.deepEqual(codes(result), [])
    const { by, isProved, text = '' } = disclosedIn(result) ?? {}
    assert.deepEqual(JSON.parse(text), object)
    assert.equal(by?.agentId, agent.identity.agentId)
    assert.equal(isProved, true, 'the sender committed to the key')
    assert.match(
      renderCapsuleText(result),
      /Content of pkg_\S+, as sealed by org_acme\S*:\n.* proved\.\n {4}\{\n/u,
    )
    const page = renderCapsuleHtml(result, { verifiedAt: '', file: 'a.json' })
    assert.match(page, /<pre>\s*\{<br \/> {2}&quot;/u)
  }
})

test('[AUD-03] without a commitment a sender only claims the content, and the recipient proves it', async () => {
  for (const [agent, isProved] of [
    [acme, false],
    [bolt, true],
  ] as const) {
    const disclosure = await disclosePackage(agent, plain.package_id)
    const result = await verifyCapsule(await capsuleOf(agent, plain.package_id, disclosure))
    assert.deepEqual(codes(result), [])
    assert.equal(disclosedIn(result)?.isProved, isProved)
    const check = result.checks.find(({ code }) => code === 'disclosure_key')
    assert.equal(check?.result, isProved ? 'holds' : 'unproved')
    if (!isProved) assert.match(renderCapsuleText(result), /claimed by its sender alone/u)
  }
})

test('[AUD-03][O-17] content that was sealed for another package, or under another key, is a contradiction', async () => {
  const commitment = { keyCommitment: contentKeyCommitment(new Uint8Array(32)) }
  const sealed: [aad: Uint8Array, fault: string][] = [
    [writeAdditionalData({ package_id: 'pkg_other' } as never), 'other_metadata'],
    [writeAdditionalData({} as never, commitment), 'other_key'],
  ]
  for (const [aad, fault] of sealed) {
    const { package_id } = await sendCrafted(acme, bolt, { aad })
    for (const agent of [acme, bolt]) {
      const capsule = await capsuleOf(agent, package_id, await disclosePackage(agent, package_id))
      const result = await verifyCapsule(capsule)
      assert.deepEqual(
        result.contradictions.map(({ code, values }) => [code, values?.fault]),
        [['disclosure_key', fault]],
      )
      assert.equal(disclosedIn(result), undefined)
    }
  }
})

test('[AUD-03] a disclosure that was edited, or that nobody of the package signed, shows nothing', async () => {
  const disclosure = await disclosePackage(bolt, sent.packageId)
  const ofOther = await disclosePackage(bolt, other.packageId)
  const signed = async (changes: Partial<Disclosure>, agent = bolt): Promise<Disclosure> => {
    const { organizationId: organization_id, agentId: agent_id } = agent.identity
    const unsigned = { ...disclosure, disclosed_by: { organization_id, agent_id }, ...changes }
    const { envelope, content_key, disclosed_by: disclosedBy } = unsigned
    const contentKey = decodeBase64url(content_key)
    const disclosed = { packageId: sent.packageId, envelope, contentKey, disclosedBy }
    return { ...unsigned, signature: await signDisclosure(disclosed, await currentSigningKey(agent)) }
  }
  const wrongKey = encodeBase64url(new Uint8Array(32))
  const attacks: [what: string, disclosure: Disclosure, code: string][] = [
    ['an edited key', { ...disclosure, content_key: wrongKey }, 'disclosure_signature'],
    ['a key that is none', { ...disclosure, content_key: 'AA' }, 'disclosure_signature'],
    ['an edited envelope', { ...disclosure, envelope: `${disclosure.envelope} ` }, 'disclosure_signature'],
    ['the disclosure of another package', ofOther, 'disclosure_signature'],
    ['another discloser', { ...disclosure, disclosed_by: ofAgent(acme) }, 'disclosure_signature'],
    ['a stranger', await signed({}, cog), 'disclosure_signature'],
    ['a party that signs another key', await signed({ content_key: wrongKey }), 'disclosure_content'],
    ["a party that signs another package's", await signed(ofOther), 'content_signature'],
    ['a party that signs no envelope', await signed({ envelope: '{}' }), 'content_signature'],
  ]
  for (const [what, changed, code] of attacks) {
    const capsule = await capsuleOf(bolt, sent.packageId, disclosure)
    const packages = capsule.packages.map((each) => ({ ...each, disclosure: changed }))
    const result = await verifyCapsule({ ...capsule, packages })
    assert.ok(codes(result).includes(code as never), `${what}: ${codes(result).join()}`)
    assert.equal(disclosedIn(result), undefined, what)
  }
})

test('[AUD-03] what is not in the capsule is not disclosed silently', async () => {
  const disclosures = new Map([[other.packageId, await disclosePackage(bolt, other.packageId)]])
  await assert.rejects(readCapsule(bolt, { packageId: sent.packageId }, { disclosures }), {
    code: 'input_invalid',
  })
})

function ofAgent({ identity }: TestAgent): Disclosure['disclosed_by'] {
  return { organization_id: identity.organizationId, agent_id: identity.agentId }
}
