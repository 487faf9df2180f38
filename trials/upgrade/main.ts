/** `npm run test:upgrade`: a rolling upgrade from the base release to the working tree, under load. */

import { runParts } from '../shared/trial-parts.ts'
import { installBase } from './base-release.ts'
import { upgradeUnderLoad } from './rolling-upgrade.ts'

const HELP = `Upgrades two API processes and a worker from the release of the tag upgrade-base to the working tree, one
after the other, while 64 clients send packages. Exits 1 if a package failed, was lost or doubled.

  npm run test:upgrade`

await runParts({
  help: HELP,
  names: ['upgrade'],
  async run(_wanted, { folder, report }) {
    await using cleanup = new AsyncDisposableStack()
    let base = ''
    const isInstalled = await report.step('git, npm', 'install the base release', async () => {
      base = await installBase(folder, cleanup)
      return 'installed'
    })
    if (isInstalled)
      await report.step('aex serve', '[API-04][EVT-03][EVT-04] rolling upgrade', () =>
        upgradeUnderLoad(base, folder, (text) => console.log(`  ${text}`)),
      )
  },
})
// A failed trial may have left a connection open; its processes have ended.
process.exit()
