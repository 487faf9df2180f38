import { generateKeyPair, type PrivateKey } from '@agent-exchange/crypto'
import { openModule } from '@agent-exchange/pkcs11'
import { prepareSoftHsm, type SoftHsm } from '../../../trials/pkcs11/soft-hsm.ts'
import { Skipped } from '../../../trials/shared/report.ts'
import type { Table } from '../area.ts'
import { measure } from '../measure.ts'

/** SoftHSM with the compiled binding, or why there is none. */
export async function findSoftHsm(folder: string): Promise<SoftHsm | string> {
  try {
    const hsm = await prepareSoftHsm(folder)
    // The library and the loader read the environment of this process.
    Object.assign(process.env, hsm.env)
    return hsm
  } catch (error) {
    if (!(error instanceof Skipped)) throw error
    return error.message
  }
}

export const moduleSettings = ({ env, module, token, pinFile }: SoftHsm): Record<string, string> => ({
  ...env,
  AEX_PKCS11_MODULE: module,
  AEX_PKCS11_TOKEN: token,
  AEX_PKCS11_PIN_FILE: pinFile,
})

interface Keys {
  readonly signing: PrivateKey
  readonly encryption: PrivateKey
}

export interface Pace {
  readonly repetitions: number
  readonly milliseconds: number
}

/** Signatures and agreements per second, one call after the other. */
export async function keySpeed(hsm: SoftHsm | undefined, pace: Pace): Promise<Table> {
  await using module = hsm && openModule(hsm)
  const inModule = async (use: 'signing' | 'encryption') =>
    (await module?.generate({ use, label: `bench ${use}` }))?.privateKey
  const [signing, encryption] = [await inModule('signing'), await inModule('encryption')]
  const rows = [
    { id: 'wrapped', label: 'keys wrapped in the database', keys: await keysHere() },
    ...(signing && encryption
      ? [{ id: 'softhsm', label: 'keys in SoftHSM', keys: { signing, encryption } }]
      : []),
  ]
  const measured = []
  for (const { id, label, keys } of rows) measured.push({ id, label, values: await ratesOf(keys, pace) })
  return {
    title: 'Private keys, calls one after the other',
    columns: [
      { id: 'signatures_per_second', head: 'signatures/s' },
      { id: 'agreements_per_second', head: 'agreements/s' },
    ],
    rows: measured,
  }
}

const keysHere = async (): Promise<Keys> => ({
  signing: (await generateKeyPair('signing')).privateKey,
  encryption: (await generateKeyPair('encryption')).privateKey,
})

async function ratesOf({ signing, encryption }: Keys, pace: Pace): Promise<number[][]> {
  const data = new TextEncoder().encode('what is signed')
  const peer = (await generateKeyPair('encryption')).publicKey.jwk
  return [await measure(() => signing.sign(data), pace), await measure(() => encryption.agree(peer), pace)]
}
