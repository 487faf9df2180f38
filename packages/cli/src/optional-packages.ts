/** Packages that some commands need and that the command line installs without. */
export const SERVICE = '@agent-exchange/service'
export const GATEWAY = '@agent-exchange/gateway'
export type OptionalPackage = typeof SERVICE | typeof GATEWAY

/** Each with the packages that only it needs. */
export const TARBALLS: Readonly<Record<OptionalPackage, readonly string[]>> = {
  [SERVICE]: ['database', 'pkcs11', 'server', 'service'],
  [GATEWAY]: ['database', 'gateway', 'pkcs11', 'server'],
}

export function isInstalled(name: OptionalPackage): boolean {
  try {
    import.meta.resolve(name)
    return true
  } catch {
    return false
  }
}
