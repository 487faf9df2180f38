import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { organizations, sendPackage, startReceiver, startWorld, until } from '@agent-exchange/testkit'
import { SMTPServer } from 'smtp-server'

test('[EVT-08][O-19] a receiver that is gone: the running service disables it, logs it, and writes to the contact', async () => {
  const mails: { to: string[]; text: string }[] = []
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, { envelope }, done) {
      let text = ''
      stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
      stream.on('end', () => {
        mails.push({ to: envelope.rcptTo.map(({ address }) => address), text: text.replaceAll('=\r\n', '') })
        done()
      })
    },
  })
  smtp.listen(0, '127.0.0.1')
  await once(smtp.server, 'listening')
  const { port } = smtp.server.address() as { port: number }
  await using cleanup = new AsyncDisposableStack()
  cleanup.defer(() => new Promise<void>((resolve) => smtp.close(resolve)))
  const receiver = cleanup.use(await startReceiver({ reply: () => 410 }))
  const world = cleanup.use(
    await startWorld({
      config: {
        role: 'all',
        smtp: { url: `smtp://127.0.0.1:${port}`, from: 'alerts@exchange.example' },
        webhook: { ca: receiver.authority.certificate, allowPrivate: true },
      },
    }),
  )
  const [sender, owner] = await organizations(world, 'sender', 'owner')
  await world.sql`
    update organization set contact = 'ops@owner.example' where organization_id = ${owner.organizationId}`
  const endpoint = await owner.post('/v1/webhook-endpoints', { url: receiver.url, event_types: [] })
  const id = String(endpoint.body['webhook_endpoint_id'])
  const { metadata } = await sendPackage(sender, owner)
  // The service sends alerts every ten seconds.
  await until('the mail arrives', () => mails.length > 0)
  const [mail, ...others] = mails
  assert.equal(others.length, 0)
  assert.deepEqual(mail?.to, ['ops@owner.example'])
  assert.match(mail.text, new RegExp(`Subject: Webhook endpoint ${id}: disabled`))
  assert.match(mail.text, /the receiver answered 410 Gone/)
  // Metadata of the endpoint only: nothing about the package.
  for (const part of [metadata.package_id, metadata.thread_id, 'content_digest']) {
    assert.ok(!mail.text.includes(part), part)
  }
  assert.equal(world.logged.filter((line) => line.includes('"alert":"endpoint_disabled"')).length, 1)
})
