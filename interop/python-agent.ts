/**
 * Runs the Python receiver and opener (python/agent_exchange/) against the attacks that the SDK has to pass, with a real
 * exchange. It installs nothing: it reports a missing tool and stops.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { report } from './curl-agent/trial/report.ts'
import { findTools } from './curl-agent/trial/tools.ts'
import { attackOpener } from './python-trial/attack-opener.ts'
import { attackReceiver } from './python-trial/attack-receiver.ts'

const tools = findTools()
if ('missing' in tools) {
  console.log(`\nskipped: there is no ${tools.missing} here, so the Python agent cannot run.`)
} else {
  const folder = mkdtempSync(join(tmpdir(), 'aex-python-agent-'))
  try {
    const place = { folder, python: tools.python, report }
    report.heading('The Python receiver refuses what the SDK refuses:')
    await attackReceiver(place)
    report.heading('The Python opener refuses what the SDK refuses:')
    await attackOpener(place)
    console.log('\nThe Python receiver and opener pass the attacks of the SDK.')
  } catch (error) {
    console.log(error instanceof Error ? error.stack : String(error))
    process.exitCode = 1
  } finally {
    rmSync(folder, { recursive: true })
  }
}
