/** `npm run test:deploy`: renders and lints what operators deploy, and starts the content of the image. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createReport } from '../shared/report.ts'
import {
  compareLabels,
  compareMetrics,
  lintChart,
  lintCompose,
  lintContainerfile,
  lintRules,
  lintUnit,
} from './lint.ts'
import { startImage } from './start-image.ts'

const report = createReport()
const folder = mkdtempSync(join(tmpdir(), 'aex-deploy-'))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

await report.step('systemd-analyze', 'the unit', lintUnit)
await report.step('promtool', 'alert rules', lintRules)
await report.step('metrics', 'named by rules and dashboard', compareMetrics)
await report.step('labels', 'used by rules and dashboard', compareLabels)
await report.step('hadolint', 'the Containerfile', lintContainerfile)
await report.step('helm', 'the chart', () => lintChart(folder))
await report.step('compose-go', 'the compose file', lintCompose)
await report.step('image', 'assembled and started', () => startImage(folder))
report.print()
if (report.failed()) process.exitCode = 1
