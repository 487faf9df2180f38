/** `npm run trial -- pkcs11`: private keys in SoftHSM, by the real binding. */

import { runParts } from '../shared/trial-parts.ts'
import { prepareSoftHsm, type SoftHsm } from './soft-hsm.ts'
import { tryExchange } from './try-exchange.ts'
import { tryKeys } from './try-keys.ts'

const HELP = `Makes keys in SoftHSM, and runs an exchange with them; exits 1 if something fails.

  npm run trial -- pkcs11               both parts
  npm run trial -- pkcs11 -- keys       one of keys, exchange

Needs SoftHSM (Debian: softhsm2), a C++ compiler, make, Python and the npm registry; pkcs11js is compiled in a temporary folder.`

await runParts({
  help: HELP,
  names: ['keys', 'exchange'],
  async run(wanted, tools) {
    let hsm: SoftHsm | undefined
    await tools.report.step('SoftHSM', 'compile the binding, make a token', async () => {
      hsm = await prepareSoftHsm(tools.folder)
      return hsm.module
    })
    if (!hsm) return
    // The library reads the environment of this process too.
    Object.assign(process.env, hsm.env)
    if (wanted.includes('keys')) await tryKeys(hsm, tools.report)
    if (wanted.includes('exchange')) await tryExchange(hsm, tools)
  },
})
