import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { mailTransport } from '@agent-exchange/server/mail-transport'
import { pino } from 'pino'
import { SMTPServer } from 'smtp-server'
import { gatewayDatabase, type GatewayDatabase } from '../../stores/gateway-database.fixture.ts'
import { agentInTrouble, CANARY, NOW } from '../needs-a-person.fixture.ts'
import { MAXIMUM_MAILS_A_DAY } from './mail-store.ts'
import { mailTask, tell, type MailSettings } from './mail-task.ts'

interface ReceivedMail {
  readonly to: readonly string[]
  readonly text: string
}

/** A real SMTP server on loopback. */
async function startMailServer() {
  const mails: ReceivedMail[] = []
  let isRefusing = false
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, { envelope }, done) {
      let text = ''
      stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
      stream.on('end', () => {
        if (isRefusing) return done(new Error(`refused: ${text}`))
        mails.push({ to: envelope.rcptTo.map(({ address }) => address), text: text.replaceAll('=\r\n', '') })
        return done()
      })
    },
  })
  smtp.listen(0, '127.0.0.1')
  await once(smtp.server, 'listening')
  return {
    mails,
    url: `smtp://127.0.0.1:${(smtp.server.address() as AddressInfo).port}`,
    refuse: (refused: boolean) => void (isRefusing = refused),
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => smtp.close(resolve)),
  }
}

async function startMailing(database: GatewayDatabase) {
  const server = await startMailServer()
  const logged: string[] = []
  const time = { now: Date.parse(NOW), leads: true, moduleAway: false }
  const results: string[] = []
  const settings: MailSettings = {
    db: database.db,
    agents: { list: () => [], find: () => undefined },
    isLeading: () => time.leads,
    keyEnds: () => [{ agentId: 'agent_1', use: 'signing', keyId: 'sig_1', endsAt: '2026-03-10T00:00:00Z' }],
    isModuleAway: () => time.moduleAway,
    logFindings: () => [],
    transport: mailTransport({ url: server.url, from: 'gateway@company.example' }),
    recipients: ['ops@company.example', 'planner@company.example'],
    publicUrl: 'https://gateway.company.example',
    now: () => new Date(time.now),
    log: pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) }),
    onMail: (result) => results.push(result),
  }
  const task = mailTask(settings)
  const run = () => task.run(new AbortController().signal)
  return { ...server, time, settings, run, logged, results }
}

test('one mail of each kind tells everything once, with ids and counts and nothing that a package says', async () => {
  await using database = await gatewayDatabase()
  await agentInTrouble(database)
  await using mailing = await startMailing(database)
  const { mails, run, time } = mailing
  await run()
  time.now += 3_600_000
  await run()
  assert.equal(mails.length, 2)
  const [trouble, news] = mails
  assert.deepEqual(trouble?.to, ['ops@company.example', 'planner@company.example'])
  for (const said of [
    /Subject: Gateway: 1 key ends soon and has no successor, and 5 more/u,
    /agent_1 {2}sig_1/u,
    /1 inbox has a package that has waited for over an hour/u,
    /1 deadline has passed without an answer\.\s+agent_1 {2}pkg_old[^]*\/packages\/pkg_old/u,
    /1 sign that an exchange showed two histories/u,
    /pkg_stuck/u,
    /evt_aside/u,
    /aex gateway event retry/u,
    /https:\/\/gateway\.company\.example\//u,
  ])
    assert.match(trouble?.text ?? '', said)
  assert.match(news?.text ?? '', /Subject: Gateway: 1 received package waits for a person or a system/u)
  assert.match(news?.text ?? '', /https:\/\/gateway\.company\.example\/packages\/pkg_/u)
  assert.ok(!JSON.stringify([mails, mailing.logged]).includes(CANARY))

  time.moduleAway = true
  await run()
  time.now += 120_000
  await run()
  assert.equal(mails.length, 3)
  assert.match(mails[2]?.text ?? '', /Subject: Gateway: 1 key module does not answer/u)
})

test('a mail that the server refuses is sent later, and what the server said is not logged', async () => {
  await using database = await gatewayDatabase()
  await agentInTrouble(database)
  await using mailing = await startMailing(database)
  mailing.refuse(true)
  await mailing.run()
  mailing.refuse(false)
  await mailing.run()
  assert.equal(mailing.mails.length, 2)
  assert.deepEqual(mailing.results, ['failed', 'failed', 'sent', 'sent'])
  assert.ok(!mailing.logged.join('').includes('refused:'))
})

test('the number of mails a day is limited, and what exceeded it is reported on the next day', async () => {
  await using database = await gatewayDatabase()
  await using mailing = await startMailing(database)
  const { settings, mails, time } = mailing
  const events = Array.from({ length: MAXIMUM_MAILS_A_DAY + 5 }, (_, number) => ({
    kind: 'outbox_stuck' as const,
    agentId: 'agent_1',
    subject: `pkg_${number}`,
  }))
  for (const [index] of events.entries()) {
    time.now += 61_000
    await tell(settings, 'trouble', events.slice(0, index + 1))
  }
  assert.equal(mails.length, MAXIMUM_MAILS_A_DAY)
  time.now += 86_400_000
  await tell(settings, 'trouble', events)
  assert.match(mails.at(-1)?.text ?? '', /Subject: Gateway: 5 packages have not been accepted/u)
})

test('two instances tell an event once; without a leader any instance tells that there is none', async () => {
  await using database = await gatewayDatabase()
  await using mailing = await startMailing(database)
  const { settings, mails, time, run } = mailing
  const away = [{ kind: 'module_away' as const, subject: 'pkcs11' }]
  await Promise.all([tell(settings, 'trouble', away), tell(settings, 'trouble', away)])
  assert.equal(mails.length, 1)
  time.leads = false
  time.now += 120_000
  await run()
  assert.equal(mails.length, 1)
  await run()
  assert.match(mails.at(-1)?.text ?? '', /Subject: Gateway: 1 gateway without a leading instance/u)
})
