import assert from 'node:assert/strict'
import { existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { generateKeyPair, jwkThumbprint } from '@agent-exchange/crypto'
import { addKey, revokeKey } from '@agent-exchange/testkit'
import { packageFor } from './counterpart.ts'
import { startMeddlingProxy, type Alter } from './meddling-proxy.ts'
import { forgedReceipts } from './forged-receipts.ts'
import { policyFor } from './scenario.ts'
import { example, type ShellAgent } from './shell-agent.ts'
import type { Stage } from './stage.ts'
import { seal } from './testkit-counterpart.ts'

/** Attacks that the agent must reject. */
export async function attack(stage: Stage): Promise<void> {
  await sendingAgainstThePolicy(stage)
  await meddling(stage)
  await forgedReceipts(stage)
  await wrongPackages(stage)
  await newKeys(stage)
  await revokedKeys(stage)
  await secrets(stage)
}

async function sendingAgainstThePolicy({ shell, peer, report }: Stage): Promise<void> {
  const policy = policyFor(shell, peer.organizationId)
  const outbox = () => readdirSync(join(shell.home, 'outbox'))
  const before = outbox()
  const approved = ['--approved-by', 'approval_by_planner']
  const priced = changed(shell, 'priced', ({ business_context }) => ({
    business_context: { ...business_context, affected_scope: { unit_price: 4 } },
  }))
  const certain = changed(shell, 'certain', ({ confidence }) => ({ confidence: { ...confidence, score: 7 } }))
  const cases: readonly (readonly [what: string, said: RegExp, draft: string, ...rest: string[]])[] = [
    ['a prohibited field', /prohibited_disclosure failed/u, priced, policy, ...approved],
    ['a value that breaks the schema', /object_schema failed/u, certain, policy, ...approved],
    [
      'a recipient that the policy does not name',
      /recipient_authorization failed/u,
      example('constraint'),
      policyFor(shell, 'org_somebody_else'),
      ...approved,
    ],
    ['a missing human approval', /asks for a human approval/u, example('constraint'), policy],
  ]
  for (const [what, said, ...args] of cases) {
    await report.step(`it does not send against its policy: ${what}`, async () => {
      assert.match(await shell.refused('send', peer.agentId, ...args), said)
      assert.deepEqual(outbox(), before)
    })
  }
}

type Draft = { readonly business_context: object; readonly confidence: object }

/** Writes a changed example draft and returns its file. */
function changed(shell: ShellAgent, name: string, change: (draft: Draft) => object): string {
  const draft = JSON.parse(readFileSync(example('constraint'), 'utf8')) as Draft
  const file = join(shell.home, `draft-${name}.json`)
  writeFileSync(file, JSON.stringify({ ...draft, ...change(draft) }), { mode: 0o600 })
  return file
}

/** A proxy changes one part of a response at a time. */
async function meddling({ shell, peer, world, report }: Stage): Promise<void> {
  const stranger = (await generateKeyPair('signing')).publicKey.jwk
  const content = editing(/^\/content\//u)
  const resource = editing(/^\/v1\/packages\/[^/]+$/u)
  const directory = editing(new RegExp(`^/v1/directory/agents/${peer.agentId}/keys$`, 'u'))
  const evidence = editing(/^\/v1\/audit\//u)
  const cases: readonly (readonly [what: string, said: RegExp, alter: Alter, command: string])[] = [
    [
      'an altered signature',
      /signature does not hold.*rejected receipt was sent/su,
      content((it) => ({ ...it, signature: flip(it.signature) })),
      'open',
    ],
    [
      'altered content',
      /Rejected: .*rejected receipt was sent/su,
      content((it) => ({ ...it, payload: flip(it.payload) })),
      'open',
    ],
    [
      'other metadata than was signed',
      /other metadata than the sender signed/u,
      resource((it) => ({ ...it, metadata: { ...it.metadata, expires_at: '2099-01-01T00:00:00Z' } })),
      'open',
    ],
    [
      'a download URL outside the exchange',
      /not its own/u,
      resource((it) => ({ ...it, ciphertext_download_url: 'http://127.0.0.1:9/content' })),
      'open',
    ],
    [
      'a false directory',
      /is not the key that was pinned/u,
      directory((it) => ({ ...it, keys: it.keys.map((key) => ({ ...key, public_key: stranger })) })),
      'open',
    ],
    [
      'altered evidence',
      /is not what was recorded/u,
      evidence((it) => ({
        ...it,
        entries: it.entries.map((entry) => ({ ...entry, proof: { ...entry.proof, kind: 'other' } })),
      })),
      'evidence',
    ],
  ]
  for (const [what, said, alter, command] of cases) {
    await report.step(`it detects ${what}`, async () => {
      const object = packageFor(peer, shell, world.clock.now())
      await seal(peer, shell, object)
      await using proxy = await startMeddlingProxy(alter)
      assert.match(await shell.through(proxy.url).refused(command, object.id), said)
      // Without the proxy, the same package opens.
      await shell.run(command, object.id)
    })
  }
}

/** The members of responses that the attacks change; each response has some of them. */
interface Answered {
  readonly signature: string
  readonly payload: string
  readonly metadata: object
  readonly keys: readonly object[]
  readonly entries: readonly { readonly proof: object }[]
}

/** Changes the JSON of responses for some paths. */
function editing(path: RegExp): (edit: (body: Answered) => object) => Alter {
  return (edit) => (asked, text) =>
    path.test(asked) ? JSON.stringify(edit(JSON.parse(text) as Answered)) : text
}

/** Changes a character in the middle, where every bit of base64url is significant. */
function flip(text: string): string {
  const at = Math.floor(text.length / 2)
  return `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`
}

/** Faults inside the sealed content, which the exchange cannot detect. */
async function wrongPackages({ shell, peer, world, report }: Stage): Promise<void> {
  await report.step('it rejects a package whose metadata contradict its content', async () => {
    const object = packageFor(peer, shell, world.clock.now())
    const said = await rejected({
      ...object,
      sender: { ...object.sender, organization_id: 'org_somebody_else' },
    })
    assert.match(said, /another sender inside.*rejected receipt was sent/su)
  })
  await report.step('it rejects an object that breaks its schema', async () => {
    const object = packageFor(peer, shell, world.clock.now())
    const said = await rejected({ ...object, confidence: { score: 2, basis: 'none' } })
    assert.match(said, /\/confidence\/score breaks maximum.*rejected receipt was sent/su)
  })
  await report.step('it reports a package that does not open with its key', async () => {
    const object = packageFor(peer, shell, world.clock.now())
    const { publicKey } = await generateKeyPair('encryption')
    await seal(peer, shell, object, { sealFor: publicKey })
    const said = await shell.refused('open', object.id)
    assert.match(said, /does not open with our key.*failed receipt was sent/su)
    assert.match(await shell.run('evidence', object.id), /^receipt failed, bound, signed by the recipient$/mu)
  })

  async function rejected(object: ReturnType<typeof packageFor>): Promise<string> {
    await seal(peer, shell, object)
    const said = await shell.refused('open', object.id)
    assert.match(
      await shell.run('evidence', object.id),
      /^receipt rejected, bound, signed by the recipient$/mu,
    )
    return said
  }
}

async function newKeys({ shell, peer, report }: Stage): Promise<void> {
  await report.step('it seals for a new key of a known peer only once the key is trusted', async () => {
    const validFrom = new Date(Date.now() - 60_000).toISOString()
    const { pair } = await addKey(peer, 'encryption', { validFrom })
    const args = ['send', peer.agentId, example('constraint'), policyFor(shell, peer.organizationId)]
    const said = await shell.refused(...args, '--approved-by', 'approval_by_planner')
    const command =
      new RegExp(`agent\\.sh trust ${peer.agentId} (?<mark>[\\w-]{43})`, 'u').exec(said)?.groups ?? {}
    assert.equal(command['mark'], await jwkThumbprint(pair.publicKey.jwk))
    await shell.run('trust', peer.agentId, command['mark'] ?? '')
    await shell.run(...args, '--approved-by', 'approval_by_planner')
  })
}

/** ID-05: the effect of a key revocation on existing packages. */
async function revokedKeys({ shell, peer, world, report }: Stage): Promise<void> {
  await report.step(
    'it opens a package that was accepted before the sender’s key became invalid',
    async () => {
      const object = packageFor(peer, shell, world.clock.now())
      await seal(peer, shell, object)
      await sleep(5)
      await revoke(peer.signing.keyId, world.clock.now())
      await shell.run('open', object.id)
    },
  )
  await report.step('it rejects a package signed with a stolen key before its revocation', async () => {
    const stolenAt = world.clock.now()
    const signing = await addKey(peer, 'signing', { validFrom: stolenAt })
    await shell.run('trust', peer.agentId, await jwkThumbprint(signing.pair.publicKey.jwk))
    const object = packageFor(peer, shell, world.clock.now())
    await seal({ ...peer, signing }, shell, object)
    await revoke(signing.keyId, stolenAt)
    const said = await shell.refused('open', object.id)
    assert.match(said, /after the key was bad.*rejected receipt was sent/su)
  })

  async function revoke(keyId: string, invalidFrom: string): Promise<void> {
    const answer = await revokeKey(peer, keyId, invalidFrom)
    assert.equal(answer.status, 200, answer.text)
  }
}

async function secrets({ shell, world, report }: Stage): Promise<void> {
  await report.step('it does not execute shell code in the lifetime of a token', async () => {
    const trace = join(shell.home, 'trace')
    const harmful = editing(/\/token$/u)((it) => ({ ...it, expires_in: `at[$(touch ${trace})]` }))
    await using proxy = await startMeddlingProxy(harmful)
    rmSync(join(shell.home, 'authorization'))
    assert.match(await shell.through(proxy.url).refused('poll'), /is not an access token/u)
    assert.ok(!existsSync(trace))
    await shell.run('poll')
  })
  await report.step('it replaces an invalid token, and accepts only valid ids', async () => {
    writeFileSync(join(shell.home, 'authorization'), 'Authorization: Bearer none\n')
    assert.equal(await shell.run('poll').then(() => 'done'), 'done')
    for (const id of ['../settings', 'pkg_a/../b', 'pkg_a?x', 'pkg_']) {
      assert.match(await shell.refused('open', id), /is not an id/u)
    }
  })
  await report.step('only the owner can read its files, and the exchange logged no content', async () => {
    for (const name of readdirSync(shell.home, { recursive: true, encoding: 'utf8' })) {
      assert.equal(statSync(join(shell.home, name)).mode & 0o077, 0, name)
    }
    const draft = JSON.parse(readFileSync(example('constraint'), 'utf8')) as {
      reasoning: { summary: string }
    }
    assert.ok(!world.logged.some((line) => line.includes(draft.reasoning.summary)))
  })
}
