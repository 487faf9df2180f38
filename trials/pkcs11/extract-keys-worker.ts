/** A thief with the PIN: asks the module for the private value of every key, and prints what it answers. */

import { readFileSync } from 'node:fs'
import { type Cryptoki, loadBinding } from '../../packages/pkcs11/src/binding.ts'
import { CKA, CKF, CKO, CKU_USER } from '../../packages/pkcs11/src/constants.ts'

const [, , binding = '', module = '', token = '', pinFile = ''] = process.argv
const MAXIMUM_KEYS = 100
const cryptoki: Cryptoki = loadBinding(binding)
cryptoki.load(module)
cryptoki.C_Initialize({ flags: CKF.OS_LOCKING_OK })
const slot = cryptoki.C_GetSlotList(true).find((each) => cryptoki.C_GetTokenInfo(each).label.trim() === token)
if (!slot) throw new Error('no token')
const session = cryptoki.C_OpenSession(slot, CKF.SERIAL_SESSION)
cryptoki.C_Login(session, CKU_USER, readFileSync(pinFile, 'utf8').trim())
cryptoki.C_FindObjectsInit(session, [{ type: CKA.CLASS, value: CKO.PRIVATE_KEY }])
for (const key of cryptoki.C_FindObjects(session, MAXIMUM_KEYS)) {
  try {
    cryptoki.C_GetAttributeValue(session, key, [{ type: CKA.VALUE }])
    console.log('extracted')
  } catch (error) {
    console.log(error instanceof Error ? error.message : String(error))
  }
}
