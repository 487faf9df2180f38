import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import type { Counterpart } from './counterpart.ts'
import type { Report } from './report.ts'
import { example, type ShellAgent } from './shell-agent.ts'

interface Stage {
  readonly shell: ShellAgent
  readonly counterpart: Counterpart
  readonly report: Report
}

/** Writes a policy that allows one recipient and returns its file. */
export function policyFor(shell: ShellAgent, recipientOrganization: string): string {
  const policy = JSON.parse(readFileSync(example('policy'), 'utf8')) as object
  const file = `${shell.home}/policy-${recipientOrganization}.json`
  const by = { organization_id: shell.organizationId, agent_id: shell.agentId }
  const own = { ...policy, created_by: by, allowed_recipients: [recipientOrganization] }
  writeFileSync(file, JSON.stringify(own), { mode: 0o600 })
  return file
}

/**
 * Both directions: package, receipts, response, revocation, evidence. Returns the threads.
 */
export async function exchangeWith({ shell, counterpart, report }: Stage): Promise<string[]> {
  const policy = policyFor(shell, counterpart.organizationId)
  const approved = ['--approved-by', 'approval_by_planner']

  await report.step('it reads and pins the key directory of its peer', async () => {
    const lines = (await shell.run('directory', counterpart.agentId)).split('\n').toSorted()
    assert.match(lines.join('\n'), /^encryption active [\w-]{43} .+\nsigning active [\w-]{43} .+$/u)
  })
  const sent = await report.step('it evaluates the policy, seals, signs and submits a package', () =>
    shell.run('send', counterpart.agentId, example('constraint'), policy, ...approved),
  )
  const threadId = await report.step(`${counterpart.name} verifies, opens and receipts it`, async () => {
    const { facts, confidence, thread_id } = await counterpart.open(sent)
    const draft = JSON.parse(readFileSync(example('constraint'), 'utf8')) as Record<string, unknown>
    assert.deepEqual({ facts, confidence }, { facts: draft['facts'], confidence: draft['confidence'] })
    assert.equal(await shell.run('package', sent), 'opened')
    return String(thread_id)
  })
  await report.step('it submits the same package again without a second effect', async () => {
    assert.equal(await shell.run('post', sent), sent)
    assert.equal(await shell.run('thread', threadId), `${sent} opened`)
  })
  const response = await report.step(`it opens the response of ${counterpart.name}`, async () => {
    const { packageId, object } = await counterpart.respond(sent, threadId)
    assert.deepEqual(JSON.parse(await shell.run('open', packageId)), object)
    return packageId
  })
  await report.step('it polls and acknowledges all notifications once', async () => {
    const lines = (await shell.run('poll')).split('\n')
    assert.deepEqual(
      lines.map((line) => line.split(' ')[0]),
      lines.map((_, index) => String(Number(lines[0]?.split(' ')[0]) + index)),
    )
    for (const id of [sent, response])
      assert.ok(lines.some((line) => line.includes(`package.received ${id}`)))
    assert.equal(await shell.run('poll'), '')
  })

  const received = await report.step(`it opens a package of ${counterpart.name}, with receipts`, async () => {
    const object = await counterpart.send(shell)
    assert.deepEqual(JSON.parse(await shell.run('open', object.id)), object)
    assert.equal(await shell.run('package', object.id), 'opened')
    return object
  })
  const answered = await report.step(`it responds, and ${counterpart.name} opens the response`, async () => {
    const answer = await shell.run('respond', received.id, example('answer'), policy, ...approved)
    const { responds_to_package_id, response_actions } = await counterpart.open(answer)
    assert.deepEqual([responds_to_package_id, response_actions], [received.id, ['agree', 'provide_option']])
    assert.equal(await shell.run('thread', received.thread_id), `${received.id} responded\n${answer} opened`)
    return answer
  })
  await report.step('the response is answered, and that response too', async () => {
    const { packageId, object } = await counterpart.respond(answered, received.thread_id)
    assert.deepEqual(JSON.parse(await shell.run('open', packageId)), object)
    const last = await shell.run('respond', packageId, example('answer'), policy, ...approved)
    assert.equal((await counterpart.open(last))['responds_to_package_id'], packageId)
  })
  const revoked = await report.step('it revokes a package, which can then no longer be fetched', async () => {
    const id = await shell.run('send', counterpart.agentId, example('constraint'), policy, ...approved)
    assert.equal(await shell.run('revoke', id, 'superseded', 'A newer "forecast" follows.'), 'access_blocked')
    await assert.rejects(counterpart.open(id))
    assert.equal(await shell.run('package', id), 'revoked')
    return id
  })

  await report.step('it verifies the evidence: chain, acceptance, policy, receipts, revocation', async () => {
    const bySender = 'policy receipt, signed by the sender'
    const receipts = ['received', 'opened'].map((s) => `receipt ${s}, bound, signed by the recipient`)
    for (const id of [sent, received.id]) {
      const [entries, accepted, ...rest] = (await shell.run('evidence', id)).split('\n')
      assert.match(
        `${entries}\n${accepted}`,
        /^\d+ entries are what was recorded\naccepted at .* by the platform$/u,
      )
      const word = /^(?:content_fetched|response_accepted) at \S+: the exchange's word$/u
      const signed = rest.filter((line) => !word.test(line))
      assert.deepEqual(signed, [bySender, ...receipts, "state responded: the exchange's word"])
      assert.ok(rest.length > signed.length)
    }
    const ofRevoked = (await shell.run('evidence', revoked)).split('\n').slice(2)
    assert.deepEqual(ofRevoked, [
      bySender,
      'revocation, bound, signed by the sender',
      'state revoked, signed',
    ])
    assert.match(
      await shell.run('evidence', threadId),
      /^\d+ entries are what was recorded\nsignatures are checked package by package$/u,
    )
  })
  return [threadId, received.thread_id]
}
