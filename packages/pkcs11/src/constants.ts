/** Values of PKCS#11 3.0 that this package uses. */
export const CKF = {
  OS_LOCKING_OK: 0x2,
  RW_SESSION: 0x2,
  SERIAL_SESSION: 0x4,
  USER_PIN_FINAL_TRY: 0x2_0000,
  USER_PIN_LOCKED: 0x4_0000,
} as const

export const CKU_USER = 1
export const CKO = { PUBLIC_KEY: 2, PRIVATE_KEY: 3, SECRET_KEY: 4 } as const
export const CKK = { EC: 3, GENERIC_SECRET: 0x10, EC_EDWARDS: 0x40 } as const
export const CKA = {
  CLASS: 0x0,
  TOKEN: 0x1,
  PRIVATE: 0x2,
  LABEL: 0x3,
  VALUE: 0x11,
  KEY_TYPE: 0x100,
  ID: 0x102,
  SENSITIVE: 0x103,
  SIGN: 0x108,
  VERIFY: 0x10a,
  DERIVE: 0x10c,
  VALUE_LEN: 0x161,
  EXTRACTABLE: 0x162,
  EC_PARAMS: 0x180,
  EC_POINT: 0x181,
} as const
export const CKM = {
  EC_KEY_PAIR_GEN: 0x1040,
  ECDSA: 0x1041,
  ECDH1_DERIVE: 0x1050,
  EC_EDWARDS_KEY_PAIR_GEN: 0x1055,
  EDDSA: 0x1057,
} as const
export const CKD_NULL = 1
/** The binding's own mark of the parameters of ECDH. */
export const CK_PARAMS_EC_DH = 6
