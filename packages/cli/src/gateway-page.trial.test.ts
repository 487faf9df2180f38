import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { freePorts } from '@agent-exchange/testkit/free-ports'
import { runningExchange } from './running-exchange.fixture.ts'
import { strangersCheckout } from './strangers-checkout.fixture.ts'

const PAGE = 'docs/gateway.md'
const TIMEOUT_MS = 600_000
const hasNoPython = spawnSync('python3', ['--version']).error !== undefined

test(
  'docs/gateway.md: from nothing to a Python program that sends, gets the answer and keeps a capsule',
  { skip: hasNoPython && 'there is no python3 here', timeout: TIMEOUT_MS },
  async () => {
    await using exchange = await runningExchange()
    await using stranger = await strangersCheckout(exchange)
    const [api = 0, admin = 0, webhooks = 0] = await freePorts(3)
    const ports = `AEX_GATEWAY_PORT=${api} AEX_GATEWAY_ADMIN_PORT=${admin} AEX_GATEWAY_WEBHOOK_PORT=${webhooks}`
    const [companies = '', gateway = '', program = ''] = stranger
      .blocks(PAGE)
      .map((block) => block.replaceAll('8090', String(api)))
    const [serve = '', partner = ''] = stranger.blocks(PAGE, 'bash')
    await stranger.paste(`export ${ports}`)
    await stranger.paste(companies)
    assert.match(await stranger.paste(gateway), /agent_planner of org_planning has joined/u)
    const invitation = (await stranger.paste('echo "$PARTNER_INVITATION"')).trim()
    await using serving = await stranger.start(`export ${ports}\n${serve}`, /The gateway is running\./u)
    await using answering = await stranger.start(
      `PARTNER_INVITATION=${invitation}\n${partner}`,
      /Answering packages\./u,
    )
    const printed = await stranger.paste(program)
    assert.match(printed, /^sent pkg_\w+$/mu)
    assert.match(printed, /^Noted: Accept week 13\?$/mu)
    assert.match(printed, /^Consistent, but not proven: /mu)
    assert.match(printed, /^ready; agents: agent_planner$/mu)
    for (const terminal of [serving, answering]) assert.doesNotMatch(terminal.printed(), /error/iu)
  },
)
