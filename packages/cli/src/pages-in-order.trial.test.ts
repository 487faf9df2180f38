import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { connectFolder } from '@agent-exchange/sdk/node'
import { approveAtDesk } from './desk-visitor.fixture.ts'
import { blocksOf, ROOT, runningExchange } from './running-exchange.fixture.ts'
import { strangersCheckout } from './strangers-checkout.fixture.ts'

const PASSPHRASE = 'correct horse battery staple'
const TIMEOUT_MS = 600_000
/** Pages whose commands need more than a checkout, and what runs them instead. */
const ELSEWHERE = [
  'conformance.md', // judges a service: npm run test:conformance
  'deployment.md', // container, cluster, systemd: npm run test:deploy
  'gateway-systems.md', // a Python program: packages/gateway/src/api/python-program.trial.test.ts
  'gateway.md', // a server with ports of its own: gateway-page.trial.test.ts, trials/faults/gateway-backup.trial.test.ts
  'identity-providers.md', // settings for a provider: npm run test:browser -- trials
  'installing.md', // clones the repository: npm run test:packed
  'keys.md', // a PKCS#11 module: npm run test:pkcs11
  'operations.md', // an operator's own backups, identity provider and mirror
  'performance.md', // benchmarks
  'sizing.md', // a benchmark
  'tracing.md', // needs a collector of traces
]
const IN_ORDER = [
  'approvals.md',
  'data-spaces.md',
  'mcp.md',
  'quickstart.md',
  'receiving-webhooks.md',
  'transparency.md',
]

test('every page with commands is pasted by this trial, or needs more than a checkout', () => {
  const pages = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'))
  const withCommands = pages.filter((name) => blocksOf(`docs/${name}`, 'sh').length > 0)
  const known = new Set([...IN_ORDER, ...ELSEWHERE])
  assert.deepEqual(
    withCommands.filter((name) => !known.has(name)),
    [],
  )
})

/** The first tool that a page needs and this machine lacks. */
const missing = ['script', 'openssl', 'curl'].find((tool) => spawnSync(tool, ['--version']).error)

test(
  'the pages work as they are written, one after the other, in a fresh folder, with the Node of the machine',
  { skip: missing && `there is no ${missing} here`, timeout: 3 * TIMEOUT_MS },
  async (t) => {
    await using exchange = await runningExchange()
    await using stranger = await strangersCheckout(exchange)
    const { blocks, paste } = stranger
    /** Pages continue each other, so that nothing works after one that failed. */
    let failed: string | undefined
    const page = (name: string, run: () => Promise<void>) =>
      t.test(name, { timeout: TIMEOUT_MS, skip: failed && `${failed} failed` }, async () => {
        failed = name
        await run()
        failed = undefined
      })

    await page('README.md', async () => {
      const printed = await paste(blocks('README.md').join(''))
      assert.match(printed, /"agent_id":"agent_planner".*"status":"active"/u)
    })

    await page('docs/quickstart.md', async () => {
      const printed = await paste(blocks('docs/quickstart.md').join(''))
      assert.match(printed, /Everything is as it should be/u)
      assert.equal(printed.match(/^Consistent, but not proven: /gmu)?.length, 2)
      assert.match(printed, /signatures\s+prove[^:]+:\s+1\s+opened,\s+1\s+accepted\./u)
      assert.doesNotMatch(printed, /\b0 of \d/u, 'what went well does not look like a failure')
      assert.equal(await stranger.run('docs/quickstart.md'), 'Agreed: Confirm delivery in week 13.\n')
      const [responder = ''] = blocks('docs/quickstart.md', 'bash')
      const invitation = await paste('echo "$INVITATION"')
      await using running = await stranger.start(
        `INVITATION=${invitation}${responder}`,
        /Answering packages\./u,
      )
      assert.doesNotMatch(running.printed(), /error|warning/iu)
    })

    await page('[POL-03] docs/approvals.md', async () => {
      const [init = '', draft = '', desk = '', send = '', ...others] = blocks('docs/approvals.md')
      assert.deepEqual(others, [])
      await stranger.type(init.trim(), PASSPHRASE)
      assert.match(await paste(draft), /waiting/u)
      assert.match(await paste(`${send.trim()} 2>&1 || true`), /approval_waiting/u)
      const draftId = (await paste('echo "$DRAFT"')).trim()
      {
        await using running = await stranger.start(desk, /Ctrl-C ends the desk/u)
        const [link = ''] = /http:[^"\s]+/u.exec(running.printed()) ?? []
        await approveAtDesk(link, { draftId, passphrase: PASSPHRASE })
      }
      const [, packageId = ''] = /^(pkg_\w+) is accepted/mu.exec(await paste(send)) ?? []
      await using recipient = await connectFolder(join(stranger.folder, 'cars'))
      const { policyReceipt } = await recipient.open(packageId)
      assert.equal(policyReceipt.receipt.human_approval.required, true)
      assert.equal(await stranger.run('docs/approvals.md'), 'true true\napproval_waiting\n1 0\n')
    })

    await page('docs/transparency.md', async () => {
      await paste(blocks('docs/transparency.md').join(''))
    })

    await page('docs/mcp.md', async () => {
      const [policy = '', http = '', ...others] = blocks('docs/mcp.md')
      assert.deepEqual(others, [])
      await paste(policy)
      await using running = await stranger.start(http, /Serving MCP at/u)
      assert.doesNotMatch(running.printed(), /error|warning/iu)
    })

    // The other programs of the page: packages/edc/src/data-space/data-spaces-page.trial.test.ts.
    await page('[PKG-05] docs/data-spaces.md', async () => {
      await using running = new AsyncDisposableStack()
      const [simulator = ''] = blocks('docs/data-spaces.md', 'ts')
      await paste(`cat > simulator.ts <<'END'\n${simulator}END`)
      running.use(await stranger.start('npx node -C source simulator.ts', /Two connectors are ready/u))
      const commands = blocks('docs/data-spaces.md')
      const isServer = (block: string) => block.startsWith('npx aex agent data-address')
      const first = commands.findIndex(isServer)
      assert.match(
        await paste(commands.slice(0, first).join('')),
        /✔ counterparty[^]*✔ dry run[^]*The connector can carry packages/u,
      )
      const servers = commands.filter(isServer)
      assert.equal(servers.length, 2)
      for (const server of servers) running.use(await stranger.start(server, /Serving the data address at/u))
      const rest = commands.slice(first).filter((block) => !isServer(block))
      const printed = await paste(rest.join(''))
      assert.equal(printed.match(/Everything is as it should be/gu)?.length, 2)
      assert.match(printed, /"thread_id": "thread_\w+",\s+"transport_mode": "ds_x"/u)
      assert.match(printed, /is revoked\n {2}nobody can fetch it any more/u)
      assert.equal(printed.match(/The connector can carry packages/gu)?.length, 2)
    })

    // The programs of the page: packages/sdk/src/documentation.trial.test.ts.
    await page('[EVT-14] docs/receiving-webhooks.md', async () => {
      const [certificates = '', start = '', listen = '', adopt = '', ...others] = blocks(
        'docs/receiving-webhooks.md',
      )
      assert.deepEqual(others, [])
      await paste(certificates)
      assert.equal(start, 'AEX_WEBHOOK_CA=ca.pem AEX_WEBHOOK_ALLOW_PRIVATE=true npm start\n')
      await exchange.restart({
        AEX_WEBHOOK_CA: join(stranger.folder, 'ca.pem'),
        AEX_WEBHOOK_ALLOW_PRIVATE: 'true',
      })
      await using listening = await stranger.start(listen, /Listening for webhooks/u)
      await paste(adopt)
      assert.doesNotMatch(listening.printed(), /error/iu)
    })
  },
)
