/**
 * Runs the agent built from bash, curl, openssl and Python with jwcrypto (curl-agent/) against a real exchange and agents
 * of this project. It installs nothing: it reports a missing tool and stops.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startWorld } from '@agent-exchange/testkit'
import { attack } from './curl-agent/trial/attacks.ts'
import { judgeVectors } from './curl-agent/trial/published-vectors.ts'
import { report } from './curl-agent/trial/report.ts'
import { sdkCounterpart } from './curl-agent/trial/sdk-counterpart.ts'
import { exchangeWith } from './curl-agent/trial/scenario.ts'
import { startShellAgent } from './curl-agent/trial/shell-agent.ts'
import { testkitCounterpart } from './curl-agent/trial/testkit-counterpart.ts'
import { findTools } from './curl-agent/trial/tools.ts'

const tools = findTools()
if ('missing' in tools) {
  console.log(`\nskipped: there is no ${tools.missing} here, so the agent of curl and openssl cannot run.`)
  console.log('To run it (on Debian): apt-get install bash curl openssl python3-jwcrypto, and try again.')
} else {
  const folder = mkdtempSync(join(tmpdir(), 'aex-curl-agent-'))
  try {
    await trial({ folder, python: tools.python })
    console.log('\nThe agent of curl and openssl and those of this project understand each other.')
  } catch (error) {
    console.log(error instanceof Error ? error.stack : String(error))
    process.exitCode = 1
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function trial(place: { readonly folder: string; readonly python: string }): Promise<void> {
  report.heading('The curl agent reads the published vectors:')
  await judgeVectors({ ...place, report })
  await using world = await startWorld({ config: { role: 'all' }, evidenceVersion: 1 })
  const shell = await startShellAgent(world, place)
  const counterpart = await testkitCounterpart(world)
  report.heading('It exchanges packages with an agent of the testkit:')
  await report.step('it finds the authorization server, gets a token and registers', async () => {
    await shell.run('register')
  })
  await exchangeWith({ shell, counterpart, report })

  const sdk = await sdkCounterpart(world)
  report.heading('It exchanges packages with an agent of the SDK:')
  await report.step('each agent trusts the fingerprint of the other instead of the directory', async () => {
    await shell.run('trust', sdk.agentId, sdk.fingerprint)
    await sdk.trust(shell.agentId, await shell.run('fingerprint'))
  })
  const threads = await exchangeWith({ shell, counterpart: sdk, report })
  await report.step('the SDK verifies the evidence of both agents', async () => {
    for (const threadId of threads) await sdk.judgeEvidence(threadId)
  })

  report.heading('It rejects invalid input:')
  await attack({ world, shell, peer: counterpart.organization, report })
}
