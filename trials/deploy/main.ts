/** `npm run test:deploy`: renders and lints what operators deploy, and starts the content of the image. */

import { runParts } from '../shared/trial-parts.ts'
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

const HELP = `Renders and lints the files of deploy/, and starts the content of the image; exits 1 if something fails.

  npm run test:deploy     a missing tool is skipped with its reason`

await runParts({
  help: HELP,
  names: ['deploy'],
  async run(_wanted, { folder, report }) {
    await report.step('systemd-analyze', 'the unit', lintUnit)
    await report.step('promtool', 'alert rules', lintRules)
    await report.step('metrics', 'named by rules and dashboard', compareMetrics)
    await report.step('labels', 'used by rules and dashboard', compareLabels)
    await report.step('hadolint', 'the Containerfile', lintContainerfile)
    await report.step('helm', 'the chart', () => lintChart(folder))
    await report.step('compose-go', 'the compose file', lintCompose)
    await report.step('image', 'assembled and started', () => startImage(folder))
  },
})
